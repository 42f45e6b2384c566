import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join, resolve } from 'node:path'
import type { StartOptions } from '../../src/client/service-api.js'
import type { VoxmuxClient } from '../../src/client/voxmux-client.js'
import { thrownMessage, UsageError } from '../../src/core/errors.js'
import { isSameFile } from '../../src/core/file-identity.js'
import { reasonAgainstFolder } from '../../src/core/make-folder.js'
import { tryWriting } from '../../src/pipeline/output/writable-folder.js'
import type { Message } from './runtime.js'
import type { ServiceNode } from './service-node.js'

/** The outputs of messages that are on their way, in all flows. */
const targets = new Set<string>()

/** The service and the settings of a message. */
interface TurnOptions {
  readonly service: ServiceNode
  /** The fields of the editor about the output. */
  readonly config: { readonly output: string; readonly outputType: string; readonly webhook: boolean }
  readonly signal: AbortSignal
  readonly onPercent: (percent: number) => void
}

/**
 * The way of one message: send its file, start it once, wait, download. The file id stands in `msg.voxmux` from the
 * moment the service has the file. A message that comes with one goes on with that file, and nothing is paid again,
 * unless it is the id of another payload.
 *
 * @returns the message, its payload the path of the output, or its bytes
 * @throws {UsageError} if the payload is not a file, or the output is the input, that of another message on its way, or
 * cannot be written
 * @throws every error of the client
 */
export async function regenerateMessage(message: Message, options: TurnOptions): Promise<Message> {
  const { config } = options
  const { payload, output = config.output } = message
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) {
    throw new UsageError('ERR_INPUT_MISSING', 'msg.payload is neither the path of a file nor its bytes (a Buffer).')
  }
  if (payload.length === 0) {
    throw new UsageError(
      'ERR_INPUT_MISSING',
      'msg.payload is empty. It must be the path of a file or its bytes (a Buffer).',
    )
  }
  const folder = await mkdtemp(join(tmpdir(), 'voxmux-node-red-'))
  try {
    const named = typeof message.filename === 'string' ? basename(message.filename) : 'payload'
    const input = typeof payload === 'string' ? payload : join(folder, named)
    const target = await targetOf(input, typeof output === 'string' ? output : '', config.outputType)
    if (target === undefined) {
      const path = join(folder, 'output')
      await regenerate(message, input, path, options)
      message.payload = await readFile(path)
    } else {
      await requireWritable(target)
      await alone(target, () => regenerate(message, input, target, options))
      message.payload = target
    }
    return message
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function regenerate(message: Message, input: string, path: string, options: TurnOptions): Promise<void> {
  if (Buffer.isBuffer(message.payload)) await writeFile(input, message.payload)
  const client = options.service.client as VoxmuxClient
  const { signal, onPercent } = options
  const fileId = await started(message, input, client, options)
  await client.waitFor(fileId, { signal, onStatus: ({ progress }) => onPercent(progress) })
  await client.download(fileId, path, { signal })
}

async function started(
  message: Message,
  input: string,
  client: VoxmuxClient,
  { service, config, signal }: TurnOptions,
): Promise<string> {
  const start = {
    model: service.model || undefined,
    ...(config.outputType ? { output_type: config.outputType } : {}),
    ...(config.webhook ? { webhook: true } : {}),
    ...(config.webhook && service.webhookSecret ? { webhook_secret: service.webhookSecret } : {}),
  } as StartOptions
  const identity = identityOf(message.payload, input)
  const state = await stateOf(message.payload)
  const { fileId: known, input: of = identity, state: then = state } = message.voxmux ?? {}
  // A file that is gone was sent whole.
  if (known && of === identity && (state === undefined || state === then)) {
    await client.resumeStart(known, start, { signal })
    return known
  }
  const clientFileId = `node-red-${randomUUID()}`
  const { file_id: fileId } = await client.registerAndUpload({ clientFileId }, input, { signal })
  message.voxmux = { fileId, input: identity, ...(state !== undefined && { state }) }
  await client.startOnce(fileId, start, { signal })
  return fileId
}

/** Tells payloads apart: a message that was regenerated, or was given another file, is not the one that was sent. */
function identityOf(payload: unknown, input: string): string {
  return Buffer.isBuffer(payload) ? `sha256:${createHash('sha256').update(payload).digest('hex')}` : resolve(input)
}

/** Tells a file from a newer one at its path. Undefined for bytes, and for a file that is gone. */
async function stateOf(payload: unknown): Promise<string | undefined> {
  const found = typeof payload === 'string' ? await stat(payload).catch(() => undefined) : undefined
  return found && `${found.size} bytes of ${found.mtime.toISOString()}`
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
