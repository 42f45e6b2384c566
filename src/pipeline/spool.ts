import { randomUUID } from 'node:crypto'
import { readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import PQueue from 'p-queue'
import { toVoxmuxError, UsageError, type VoxmuxError } from '../core/errors.js'
import type { Logger } from '../core/logger.js'
import type { JobRequestFile } from './job-request-schema.js'
import { readSpoolFile, requestsOf } from './spool-file.js'

const SCAN_MS = 500
/** Files that are taken at once: the inputs that they name are read to know them by their content. */
const CONCURRENCY = 4

export interface SpoolOptions {
  /** Folder into which other programs rename their jobs: `*.json`, one job or an array of them. */
  readonly folder: string
  /**
   * Enqueues one job. Called again with the same ticket where a crash came between it and the file's deletion; a job
   * that is dropped later under the same name has a ticket of its own.
   */
  readonly take: (request: JobRequestFile, ticket: string) => Promise<unknown>
  readonly logger: Logger
}

/**
 * Takes jobs out of a folder, each exactly once: it is enqueued, and only then deleted. What is no job is set aside as
 * `<name>.rejected`, with the reason in `<name>.rejected.txt`; what fails for the moment is tried again.
 */
export class Spool {
  readonly #options: SpoolOptions
  readonly #queue = new PQueue({ concurrency: CONCURRENCY })
  readonly #taking = new Set<string>()
  /** What is tried again and again is said once. */
  readonly #waiting = new Set<string>()
  /** Tickets of files whose jobs are enqueued while they themselves cannot be deleted. */
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
      throw new UsageError('ERR_SPOOL_MISSING', `The spool folder ${folder} cannot be read.`, {
        cause,
        input: folder,
        remedies: ['Make it, owned by whoever writes the jobs, and let the worker write into it too.'],
      })
    }
    await requireWritable(folder)
    await this.#scan()
    this.#timer = setInterval(() => void this.#scan(), SCAN_MS)
  }

  /** Takes nothing more, and ends when what is being taken is taken. */
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
      // Said once: a share that is away for the night is away.
      if (!this.#isDown) logger.warn({ cause, folder }, `The spool folder ${folder} cannot be read; trying again.`)
      this.#isDown = true
    }
  }

  async #takeFile(name: string): Promise<void> {
    const { folder, take, logger } = this.#options
    const path = join(folder, name)
    let ticket: string | undefined
    try {
      const { text, writtenMs } = await readSpoolFile(path)
      ticket = `${name}@${writtenMs}`
      if (!this.#taken.has(ticket)) {
        const requests = requestsOf(text, path)
        for (const [index, request] of requests.entries()) await take(request, `${ticket}#${index}`)
        this.#taken.add(ticket)
        logger.info({ spool: name, jobs: requests.length }, 'taken from the spool')
      }
      await rm(path, { force: true })
      this.#taken.delete(ticket)
      this.#waiting.delete(name)
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return // another worker took it
      const error = toVoxmuxError(thrown, path)
      if (ticket !== undefined && this.#taken.has(ticket)) {
        this.#sayOnce(name, error, `${path} is taken and cannot be removed: the worker must be able to write there.`)
      } else if (error.exitCode === 4 || error.exitCode === 130) {
        this.#sayOnce(name, error, `${name} waits and is tried again: ${error.message}`)
      } else await this.#setAside(name, path, error)
    }
  }

  #sayOnce(name: string, { code }: VoxmuxError, message: string): void {
    if (!this.#waiting.has(name)) this.#options.logger.warn({ spool: name, code }, message)
    this.#waiting.add(name)
  }

  async #setAside(name: string, path: string, error: VoxmuxError): Promise<void> {
    const rejected = `${path}.rejected`
    try {
      await writeFile(`${rejected}.txt`, [`${error.code}: ${error.message}`, ...error.remedies, ''].join('\n'))
      await rename(path, rejected)
      this.#waiting.delete(name)
      this.#options.logger.error({ spool: path, code: error.code }, `${path} is set aside: ${error.message}`)
    } catch (cause) {
      // Neither taken nor moved: it is looked at again, which harms nothing.
      const why = toVoxmuxError(cause, path).message
      this.#sayOnce(name, error, `${path} is no job for this worker and cannot be set aside. ${error.message} ${why}`)
    }
  }
}

/** Whoever cannot delete what was taken would find it again and again: better said before the first job. */
async function requireWritable(folder: string): Promise<void> {
  const probe = join(folder, `.${randomUUID()}.part`)
  try {
    await writeFile(probe, '', { flag: 'wx' })
    await rm(probe, { force: true })
  } catch (cause) {
    // Of a disk that is full more can be read and deleted.
    if (!['EACCES', 'EPERM', 'EROFS'].includes((cause as NodeJS.ErrnoException).code ?? '')) return
    throw new UsageError('ERR_SPOOL_UNWRITABLE', `The worker may not write into the spool folder ${folder}.`, {
      cause,
      input: folder,
      remedies: ['Run the worker as the owner of the folder, or let its group write: it deletes what it has taken.'],
    })
  }
}
