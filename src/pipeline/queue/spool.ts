import { constants } from 'node:fs'
import { lstat, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import PQueue from 'p-queue'
import { toVoxmuxError, UsageError, type VoxmuxError } from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import { tryWriting } from '../output/writable-folder.js'
import { type JobRequestFile, readJobRequests } from './job-request.js'

const SCAN_MS = 500
/** Number of files read at once. Their inputs are hashed to identify them by content. */
const CONCURRENCY = 4

export interface SpoolOptions {
  /** Folder into which other programs move their jobs: `*.json`, one job or an array of jobs. */
  readonly folder: string
  /** Enqueues one job. After a crash it is called again with its ticket. A later file of that name has another. */
  readonly take: (request: JobRequestFile, ticket: string) => Promise<unknown>
  readonly logger: Logger
}

/**
 * Takes jobs out of a folder, each exactly once: it enqueues the job and then deletes the file. An invalid file is
 * renamed to `<name>.rejected`, with the reason in `<name>.rejected.txt`. A transient failure is retried.
 */
export class Spool {
  readonly #options: SpoolOptions
  readonly #queue = new PQueue({ concurrency: CONCURRENCY })
  readonly #taking = new Set<string>()
  /** Files whose repeated failure is already logged. */
  readonly #waiting = new Set<string>()
  /** Tickets of enqueued files that cannot be deleted. */
  readonly #taken = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #isDown = false

  constructor(options: SpoolOptions) {
    this.#options = options
  }

  /** @throws UsageError `ERR_SPOOL_MISSING`, `ERR_SPOOL_UNWRITABLE` */
  async start(): Promise<void> {
    const { folder } = this.#options
    try {
      await readdir(folder)
    } catch (cause) {
      const { code = '' } = cause as NodeJS.ErrnoException
      const what = { ENOENT: 'does not exist', ENOTDIR: 'is not a folder' }[code] ?? 'cannot be read'
      throw new UsageError('ERR_SPOOL_MISSING', `The spool folder ${folder} ${what}.`, {
        cause,
        input: folder,
        remedies: ['Create it, and let both the worker and the programs that write jobs write into it.'],
      })
    }
    await requireWritable(folder)
    await this.#scan()
    this.#timer = setInterval(() => void this.#scan(), SCAN_MS)
  }

  /** Stops the intake and waits for the files in progress. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#queue.clear()
    await this.#queue.onIdle()
  }

  async #scan(): Promise<void> {
    const { folder, logger } = this.#options
    try {
      const names = (await readdir(folder)).filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      this.#isDown = false
      for (const name of names.sort()) {
        if (this.#taking.has(name)) continue
        this.#taking.add(name)
        void this.#queue.add(() => this.#takeFile(name)).finally(() => this.#taking.delete(name))
      }
    } catch (cause) {
      // Logged once, because a share may be away for the whole night.
      if (!this.#isDown) logger.warn({ cause, folder }, `The spool folder ${folder} cannot be read; trying again.`)
      this.#isDown = true
    }
  }

  async #takeFile(name: string): Promise<void> {
    const { folder, take, logger } = this.#options
    const path = join(folder, name)
    let ticket: string | undefined
    const state = await stateOf(path)
    try {
      const { text, writtenMs } = await readSpoolFile(path)
      ticket = `${name}@${writtenMs}`
      if (!this.#taken.has(ticket)) {
        const requests = requestsOf(text, path)
        for (const [index, request] of requests.entries()) await take(request, `${ticket}#${index}`)
        this.#taken.add(ticket)
        logger.info({ spool: name, jobs: requests.length }, 'taken from the spool')
      }
      // Another job may have got the name meanwhile. The next scan takes it.
      if ((await stateOf(path)) === state) await rm(path, { force: true })
      this.#taken.delete(ticket)
      this.#waiting.delete(name)
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return // another worker took it
      const error = toVoxmuxError(thrown, path)
      if (ticket !== undefined && this.#taken.has(ticket)) {
        this.#logOnce(
          name,
          error,
          `${path} was enqueued and cannot be deleted: the worker needs write access to the folder.`,
        )
      } else if (error.exitCode === 4 || error.exitCode === 130) {
        this.#logOnce(name, error, `${name} is waiting and will be retried: ${error.message}`)
      } else if ((await stateOf(path)) === state) await this.#setAside(name, path, error)
    }
  }

  #logOnce(name: string, { code }: VoxmuxError, message: string): void {
    if (!this.#waiting.has(name)) this.#options.logger.warn({ spool: name, code }, message)
    this.#waiting.add(name)
  }

  async #setAside(name: string, path: string, error: VoxmuxError): Promise<void> {
    const rejected = await freeName(path)
    try {
      const report = `${rejected}.txt`
      // Others may write into the folder: a link that they put there would lead to another file.
      await rm(report, { force: true })
      await writeFile(report, [`${error.code}: ${error.message}`, ...error.remedies, ''].join('\n'), { flag: 'wx' })
      await rename(path, rejected)
      this.#waiting.delete(name)
      const { code, message, remedies } = error
      const renamed = `${path} was renamed to ${basename(rejected)}.`
      this.#options.logger.error({ spool: path, code, remedies }, `${message} ${renamed}`)
    } catch (cause) {
      // Neither enqueued nor moved. Reading it again does no harm.
      const why = toVoxmuxError(cause, path).message
      this.#logOnce(name, error, `${path} was rejected and cannot be renamed. ${error.message} ${why}`)
    }
  }
}

/** A worker that cannot delete its files would find them again and again. Report that before the first job. */
async function requireWritable(folder: string): Promise<void> {
  try {
    await tryWriting(folder)
  } catch (cause) {
    // A full disk still allows reading and deleting.
    if (!['EACCES', 'EPERM', 'EROFS'].includes((cause as NodeJS.ErrnoException).code ?? '')) return
    throw new UsageError(
      'ERR_SPOOL_UNWRITABLE',
      `The worker cannot write into the spool folder ${folder}, so it could not delete finished jobs.`,
      {
        cause,
        input: folder,
        remedies: ['Run the worker as the owner of the folder, or give its group write access.'],
      },
    )
  }
}

/** Jobs are a few lines. A film dropped here by mistake is not read. */
const MAX_BYTES = 1024 ** 2

/** @throws UsageError `ERR_SPOOL_JOB` */
function requestsOf(text: string, path: string): readonly JobRequestFile[] {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw notAJob(path, 'it is not JSON', cause)
  }
  try {
    return readJobRequests(json)
  } catch (cause) {
    throw cause instanceof UsageError ? notAJob(path, cause.message.replace(/\.$/, ''), cause) : cause
  }
}

/**
 * Reads a file of a spool folder. It does not follow links: their authors may not be allowed to read the target.
 *
 * @returns the text, and the modification time, which tells this file from another of the same name
 * @throws UsageError `ERR_SPOOL_JOB`; whatever the file system throws
 */
async function readSpoolFile(path: string) {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (cause) => {
      throw (cause as NodeJS.ErrnoException).code === 'ELOOP' ? notAJob(path, 'it is a link', cause) : cause
    },
  )
  const found = await file.stat()
  if (!found.isFile()) throw notAJob(path, 'it is not a file')
  if (found.size > MAX_BYTES) throw notAJob(path, 'it is too long for a job')
  return { text: await file.readFile('utf8'), writtenMs: found.mtimeMs }
}

/** `a.json.rejected`, or `a.json.2.rejected` if an earlier job of that name was rejected. */
async function freeName(path: string): Promise<string> {
  for (let count = 1; ; count++) {
    const name = `${path}${count === 1 ? '' : `.${count}`}.rejected`
    if ((await stateOf(name)) === undefined) return name
  }
}

/** Tells a file from another one of its name. Undefined if there is none. */
async function stateOf(path: string): Promise<string | undefined> {
  const found = await lstat(path, { bigint: true }).catch(() => undefined)
  return found && [found.dev, found.ino, found.size, found.mtimeNs].join()
}

function notAJob(path: string, why: string, cause?: unknown): UsageError {
  return new UsageError('ERR_SPOOL_JOB', `${path} is not a valid job: ${why}.`, {
    cause,
    input: path,
    remedies: ['`voxmux step --schema` prints the JSON Schema of a job.'],
  })
}
