import { spawn } from 'node:child_process'
import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** The hooks of a path, as they stand in mediamtx.yml. */
export interface PathHooks {
  readonly runOnInit: string
  readonly runOnRecordSegmentCreate: string
  readonly runOnRecordSegmentComplete: string
}

/**
 * Runs hooks as MediaMTX 1.x publishes it (its documentation's chapter on hooks, and internal/externalcmd): the
 * command is split into words without a shell; variables stand in the environment; a finished segment is a file that nobody writes any more.
 */
export class MediaMtxStub {
  readonly #hooks: PathHooks
  readonly #path: string
  readonly #workingFolder: string

  constructor(path: string, workingFolder: string, hooks: PathHooks) {
    this.#path = path
    this.#workingFolder = workingFolder
    this.#hooks = hooks
  }

  /** Brings the path up, as MediaMTX does when it starts. */
  init(): Promise<number | null> {
    return this.#run(this.#hooks.runOnInit, {})
  }

  /** Begins a segment and announces it; what is recorded so far is `content`. */
  async create(segment: string, content: string): Promise<number | null> {
    const file = resolve(this.#workingFolder, segment)
    await mkdir(dirname(file), { recursive: true })
    await copyFile(content, file)
    return this.#run(this.#hooks.runOnRecordSegmentCreate, { MTX_SEGMENT_PATH: segment })
  }

  complete(segment: string): Promise<number | null> {
    const variables = { MTX_SEGMENT_PATH: segment, MTX_SEGMENT_DURATION: '2' }
    return this.#run(this.#hooks.runOnRecordSegmentComplete, variables)
  }

  #run(command: string, variables: Readonly<Record<string, string>>): Promise<number | null> {
    const [program = '', ...args] = command.split(' ')
    const env = { MTX_PATH: this.#path, RTSP_PORT: '8554', ...variables }
    const child = spawn(program, args, { env, cwd: this.#workingFolder, stdio: 'ignore' })
    return new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
  }
}

/** The hooks as the README says them, over scripts in one folder. */
export function hooksOf(scripts: string, spool: string, output: string): PathHooks {
  return {
    runOnInit: `${join(scripts, 'sweep-segments.sh')} ${spool}`,
    runOnRecordSegmentCreate: `${join(scripts, 'segment-created.sh')} ${spool} ${output}`,
    runOnRecordSegmentComplete: `${join(scripts, 'segment-complete.sh')} ${spool} ${output}`,
  }
}
