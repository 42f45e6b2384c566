import { spawn } from 'node:child_process'
import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { toolVariables } from '../../helpers/loaded-tools/tool-variables.js'

/** The hooks of a path, as they stand in mediamtx.yml. */
export interface PathHooks {
  readonly runOnInit: string
  readonly runOnRecordSegmentCreate: string
  readonly runOnRecordSegmentComplete: string
}

/** Port of its RTSP server; every hook is told. */
const RTSP_PORT = '8554'

/**
 * Runs hooks as MediaMTX 1.x publishes it (its documentation's chapter on hooks, and internal/externalcmd): the
 * command is split into words by a shell's rules of quoting, but without a shell; then `$NAME` in each word is
 * replaced; what the hook is told stands in its environment too, over the server's own; a hook of segments is started
 * and not waited for; what it says goes into the server's log. A finished segment is a file that nobody writes any more.
 */
export class MediaMtxStub {
  readonly #hooks: PathHooks
  readonly #path: string
  readonly #workingFolder: string
  #said = ''
  readonly #hear = (text: string) => {
    this.#said += text
  }

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
    // Go's FormatFloat of the seconds.
    const variables = { MTX_SEGMENT_PATH: segment, MTX_SEGMENT_DURATION: '2.04' }
    return this.#run(this.#hooks.runOnRecordSegmentComplete, variables)
  }

  /** What the hooks have said: what stands in the server's log. */
  get log(): string {
    return this.#said
  }

  #run(command: string, variables: Readonly<Record<string, string>>): Promise<number | null> {
    const env: Record<string, string> = { PATH: '/usr/bin:/bin', MTX_PATH: this.#path, RTSP_PORT, ...variables }
    const [program = '', ...args] = wordsOf(command).map((word) => expand(word, env))
    const child = spawn(program, args, {
      env: { ...toolVariables(), ...env },
      cwd: this.#workingFolder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const channel of [child.stdout, child.stderr]) channel.setEncoding('utf8').on('data', this.#hear)
    return new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
  }
}

/** Splits a command as go-shellquote does. */
function wordsOf(command: string): readonly string[] {
  const words = command.match(/(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/g) ?? []
  return words.map((word) =>
    word.replace(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g, (_, single?: string, double?: string, escaped?: string) =>
      single === undefined ? (double?.replace(/\\([$`"\\])/g, '$1') ?? escaped ?? '') : single,
    ),
  )
}

/** Replaces `$NAME` and `${NAME}` as Go's os.Expand does; what is not known is empty. */
function expand(word: string, env: Readonly<Record<string, string>>): string {
  return word.replace(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (_, braced?: string, plain?: string) => env[braced ?? plain ?? ''] ?? '',
  )
}

/** The hooks as the README says them, over scripts in one folder. */
export function hooksOf(scripts: string, spool: string, output: string): PathHooks {
  return {
    runOnInit: `${join(scripts, 'sweep-segments.sh')} ${spool}`,
    runOnRecordSegmentCreate: `${join(scripts, 'segment-created.sh')} ${spool} ${output}`,
    runOnRecordSegmentComplete: `${join(scripts, 'segment-complete.sh')} ${spool} ${output}`,
  }
}
