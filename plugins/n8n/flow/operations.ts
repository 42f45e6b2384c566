import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow'
import { fileFailed } from '../../../src/client/file-failed.js'
import { isNotFound } from '../../../src/client/known-status.js'
import type { StartOptions } from '../../../src/client/service-api.js'
import { resumeStart, startOnce } from '../../../src/client/start-once.js'
import { JobFailedError } from '../../../src/core/errors.js'
import { downloadOutput } from './download-output.js'
import { type ItemFile, itemFile } from './item-file.js'
import { type Session, uploadItem } from './session.js'

/** One item at work. */
export interface Turn {
  readonly host: IExecuteFunctions
  readonly session: Session
  readonly index: number
  readonly signal: AbortSignal
  /** Set once the service has the file, so that an error can name it. */
  fileId?: string
}

/**
 * Files by execution, item and content. n8n may run the node again in the same execution ("Retry On Fail"), with the items
 * that succeeded. The node then goes on with the files that it sent, and none is paid twice.
 */
const sent = new Map<string, string>()
const MOST_SENT = 10_000

/** The operations, by the name of the parameter. */
export const NODE_OPERATIONS = {
  async regenerate(turn) {
    const file = await inputOf(turn)
    const { key, outputType } = await started(turn, file)
    const fileId = turn.fileId as string
    try {
      const status = await turn.session.watcher.watch(fileId, { signal: turn.signal })
      if (status.status !== 'Succeeded') throw fileFailed(fileId, status)
      return await withOutput(turn, fileId, outputName(file.name, outputType), { ...status, fileId })
    } catch (thrown) {
      if (thrown instanceof JobFailedError) sent.delete(key)
      throw thrown
    }
  },

  async start(turn) {
    await started(turn, await inputOf(turn))
    return { json: { fileId: turn.fileId } }
  },

  async getStatus({ host, session, index, signal }) {
    const fileId = host.getNodeParameter('fileId', index) as string
    const [status] = await session.api.getFilesStatus([fileId], { signal })
    return { json: { ...status, fileId } }
  },

  async download(turn) {
    const fileId = turn.host.getNodeParameter('fileId', turn.index) as string
    turn.fileId = fileId
    const { fileName } = optionsOf(turn)
    return withOutput(turn, fileId, (fileName as string | undefined) || fileId, { fileId })
  },
} satisfies Record<string, (turn: Turn) => Promise<INodeExecutionData>>

/** Sends the file and starts it, or goes on with the one that an earlier run of this execution sent. */
async function started(turn: Turn, file: ItemFile): Promise<{ readonly key: string; readonly outputType: string }> {
  const { host, session, index, signal } = turn
  const { outputType = '', webhook, webhookSecret } = optionsOf(turn)
  const start = {
    model: session.model,
    ...(outputType ? { output_type: outputType } : {}),
    ...(webhook ? { webhook: true, ...(webhookSecret ? { webhook_secret: webhookSecret } : {}) } : {}),
  } as StartOptions
  const key = JSON.stringify([host.getExecutionId(), host.getNode().id, index, file.identity, start])
  const starting = { api: session.api, retry: session.options.retry, options: start, call: { signal } }
  const known = sent.get(key)
  if (known) {
    turn.fileId = known
    await forgetLost(key, resumeStart({ ...starting, fileId: known }))
  } else {
    turn.fileId = await uploadItem(session, file, `n8n-${host.getExecutionId()}-${index}-${file.name}`, signal)
    for (const oldest of sent.keys()) {
      if (sent.size < MOST_SENT) break
      sent.delete(oldest)
    }
    sent.set(key, turn.fileId)
    await forgetLost(key, startOnce({ ...starting, fileId: turn.fileId }))
  }
  return { key, outputType: outputType as string }
}

/** Forgets a file that the service has lost: the next try sends it again. A file that it has stays the one that is paid. */
function forgetLost<T>(key: string, start: Promise<T>): Promise<T> {
  return start.catch((thrown: unknown) => {
    if (isNotFound(thrown)) sent.delete(key)
    throw thrown
  })
}

async function withOutput(
  turn: Turn,
  fileId: string,
  fileName: string,
  json: IDataObject,
): Promise<INodeExecutionData> {
  const field = turn.host.getNodeParameter('outputField', turn.index) as string
  return { json, binary: { [field]: await downloadOutput(fileId, fileName, turn) } }
}

const inputOf = ({ host, index }: Turn) => itemFile(host, index, host.getNodeParameter('inputField', index) as string)

const optionsOf = ({ host, index }: Turn) => host.getNodeParameter('options', index, {}) as IDataObject

/** `talk.regen.mp4` for `talk.mp4`; with an output type, that is the extension. */
function outputName(name: string, outputType: string): string {
  const [, stem = name, extension = ''] = /^(.+?)(\.[^.]+)?$/s.exec(name) ?? []
  return `${stem}.regen${outputType ? `.${outputType}` : extension}`
}
