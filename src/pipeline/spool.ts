import { constants } from 'node:fs'
import { open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import PQueue from 'p-queue'
import { z } from 'zod'
import { toVoxmuxError, UsageError, type VoxmuxError } from '../core/errors.js'
import type { Logger } from '../core/logger.js'
import { type JobRequestFile, jobRequestSchema } from './job-request-schema.js'

const SCAN_MS = 500
/** Jobs are a few lines; a film that somebody drops here by mistake is not read. */
const MAX_BYTES = 1024 ** 2
/** Files that are taken at once: the inputs that they name are read to know them by their content. */
const CONCURRENCY = 4

export interface SpoolOptions {
  /** Folder into which other programs rename their jobs: `*.json`, one job or an array of them. */
  readonly folder: string
  /** Enqueues one job. Called again with the same ticket where a crash came between it and the file's deletion. */
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
  #timer: NodeJS.Timeout | undefined
  #isDown = false

  constructor(options: SpoolOptions) {
    this.#options = options
  }

  /** @throws UsageError `ERR_SPOOL_MISSING` */
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
    try {
      const requests = await readRequests(path)
      for (const [index, request] of requests.entries()) await take(request, `${name}#${index}`)
      await rm(path, { force: true })
      this.#waiting.delete(name)
      logger.info({ spool: name, jobs: requests.length }, 'taken from the spool')
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return // another worker took it
      const error = toVoxmuxError(thrown, path)
      if (error.exitCode === 4 || error.exitCode === 130) {
        if (!this.#waiting.has(name))
          logger.warn({ spool: name, code: error.code }, `${name} waits and is tried again: ${error.message}`)
        this.#waiting.add(name)
        return
      }
      await this.#setAside(path, error)
    }
  }

  async #setAside(path: string, error: VoxmuxError): Promise<void> {
    const { logger } = this.#options
    const rejected = `${path}.rejected`
    logger.error({ spool: path, code: error.code }, `${path} is set aside: ${error.message}`)
    try {
      await writeFile(`${rejected}.txt`, [`${error.code}: ${error.message}`, ...error.remedies, ''].join('\n'))
      await rename(path, rejected)
    } catch (cause) {
      // Neither taken nor moved: it is looked at again, which harms nothing.
      logger.error({ spool: path, cause }, `${path} could not be set aside: the worker must be able to write there.`)
    }
  }
}

async function readRequests(path: string): Promise<readonly JobRequestFile[]> {
  const text = await readSmallFile(path)
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw notAJob(path, 'it is not JSON', cause)
  }
  const read = z
    .array(jobRequestSchema)
    .min(1)
    .safeParse(Array.isArray(json) ? json : [json])
  if (read.success) return read.data
  throw notAJob(path, z.prettifyError(read.error).replaceAll('\n', '; '), read.error)
}

/** A link is not followed: whoever may write here need not be able to read what it points to. */
async function readSmallFile(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((cause) => {
    throw (cause as NodeJS.ErrnoException).code === 'ELOOP' ? notAJob(path, 'it is a link', cause) : cause
  })
  try {
    const found = await file.stat()
    if (!found.isFile()) throw notAJob(path, 'it is not a file')
    if (found.size > MAX_BYTES) throw notAJob(path, 'it is too long for a job')
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

function notAJob(path: string, why: string, cause?: unknown): UsageError {
  return new UsageError('ERR_SPOOL_JOB', `${path} is not a job: ${why}.`, {
    cause,
    input: path,
    remedies: ['`voxmux step --schema` prints what a job may hold.'],
  })
}
