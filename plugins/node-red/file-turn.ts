import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join, resolve } from 'node:path'
import type { StartOptions } from '../../src/client/service-api.js'
import type { VoxmuxClient } from '../../src/client/voxmux-client.js'
import { UsageError } from '../../src/core/errors.js'
import { reasonAgainstFolder } from '../../src/core/make-folder.js'
import { thrownMessage } from '../../src/core/thrown-message.js'
import { tryWriting } from '../../src/pipeline/output/part-file.js'
import type { Message } from './runtime.js'
import type { ServiceNode } from './service-node.js'

/** The outputs of messages that are on their way, in all flows. */
const targets = new Set<string>()

/** The fields of the editor about the output. */
interface OutputConfig {
  readonly output: string
  readonly outputType: string
  readonly webhook: boolean
}

/**
 * The way of one message: send its file, start it once, wait, download. The file id stands in `msg.voxmux` from the
 * moment the service has the file. A message that comes with one goes on with that file, and nothing is paid again,
 * unless it is the id of another payload.
 */
export class FileTurn {
  readonly #client: VoxmuxClient
  readonly #start: StartOptions
  readonly #config: OutputConfig
  readonly #signal: AbortSignal
  readonly #onPercent: (percent: number) => void

  constructor(service: ServiceNode, config: OutputConfig, signal: AbortSignal, onPercent: (percent: number) => void) {
    this.#client = service.client as VoxmuxClient
    this.#config = config
    this.#signal = signal
    this.#onPercent = onPercent
    this.#start = {
      model: service.model || undefined,
      ...(config.outputType ? { output_type: config.outputType } : {}),
      ...(config.webhook ? { webhook: true } : {}),
      ...(config.webhook && service.webhookSecret ? { webhook_secret: service.webhookSecret } : {}),
    } as StartOptions
  }

  /**
   * @returns the message, its payload the path of the output, or its bytes
   * @throws {UsageError} if the payload is not a file, or the output is the input, that of another message on its way,
   * or cannot be written
   * @throws every error of the client
   */
  async run(message: Message): Promise<Message> {
    const { payload, output = this.#config.output } = message
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) {
      throw new UsageError('ERR_INPUT_MISSING', 'msg.payload is neither the path of a file nor its bytes (a Buffer).')
    }
    const folder = await mkdtemp(join(tmpdir(), 'voxmux-node-red-'))
    try {
      const named = typeof message.filename === 'string' ? basename(message.filename) : 'payload'
      const input = typeof payload === 'string' ? payload : join(folder, named)
      const target = await targetOf(input, typeof output === 'string' ? output : '', this.#config.outputType)
      if (target === undefined) {
        const path = join(folder, 'output')
        await this.#regenerate(message, input, path)
        message.payload = await readFile(path)
      } else {
        await requireWritable(target)
        await alone(target, () => this.#regenerate(message, input, target))
        message.payload = target
      }
      return message
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  async #regenerate(message: Message, input: string, path: string): Promise<void> {
    if (Buffer.isBuffer(message.payload)) await writeFile(input, message.payload)
    const fileId = await this.#started(message, input)
    await this.#client.waitFor(fileId, {
      signal: this.#signal,
      onStatus: ({ progress }) => this.#onPercent(progress),
    })
    await this.#client.download(fileId, path, { signal: this.#signal })
  }

  async #started(message: Message, input: string): Promise<string> {
    const call = { signal: this.#signal }
    const identity = identityOf(message.payload, input)
    const { fileId: known, input: of = identity } = message.voxmux ?? {}
    if (known && of === identity) {
      await this.#client.resumeStart(known, this.#start, call)
      return known
    }
    const clientFileId = `node-red-${randomUUID()}`
    const { file_id: fileId } = await this.#client.registerAndUpload({ clientFileId }, input, call)
    message.voxmux = { fileId, input: identity }
    await this.#client.startOnce(fileId, this.#start, call)
    return fileId
  }
}

/** Tells payloads apart: a message that was regenerated, or was given another file, is not the one that was sent. */
function identityOf(payload: unknown, input: string): string {
  return Buffer.isBuffer(payload) ? `sha256:${createHash('sha256').update(payload).digest('hex')}` : resolve(input)
}

/** Regenerates into a target. @throws {UsageError} `ERR_BAD_OPTION` if another message does so now: one would be lost */
async function alone(target: string, regenerate: () => Promise<void>): Promise<void> {
  if (targets.has(target)) {
    const reason = `Another message is being regenerated into ${target}.`
    throw new UsageError('ERR_BAD_OPTION', `${reason} Give each message another msg.output, or send it again later.`)
  }
  targets.add(target)
  try {
    await regenerate()
  } finally {
    targets.delete(target)
  }
}

/** Requires a folder that the download can write into, before anything is paid. @throws {UsageError} `ERR_OUTPUT_UNWRITABLE` */
async function requireWritable(target: string): Promise<void> {
  const folder = dirname(target)
  try {
    await tryWriting(folder)
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT'
    const reason = isMissing ? 'it does not exist' : (reasonAgainstFolder(cause) ?? thrownMessage(cause))
    throw new UsageError('ERR_OUTPUT_UNWRITABLE', `Cannot write into the folder ${folder}: ${reason}.`, {
      cause,
    })
  }
}

/**
 * The file to write: `output`, or in the folder `output/` the name of the input with `.regen` before its extension.
 *
 * @returns undefined if the output goes into the payload
 * @throws {UsageError} if it is the input
 */
async function targetOf(input: string, output: string, outputType: string): Promise<string | undefined> {
  if (output === '') return undefined
  const extension = outputType ? `.${outputType}` : extname(input)
  const isFolder = /[/\\]$/.test(output)
  const target = resolve(isFolder ? join(output, `${basename(input, extname(input))}.regen${extension}`) : output)
  if (target === resolve(input) || (await isSameFile(target, input))) {
    throw new UsageError('ERR_BAD_OPTION', `The output would replace its input, ${input}. Choose another output.`)
  }
  return target
}

/** True if both names lead to one file, for example through a link. */
async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map((path) => stat(path, { bigint: true }).catch(() => null)))
  return !!first && !!second && first.dev === second.dev && first.ino === second.ino
}
