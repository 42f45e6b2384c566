import { setTimeout as delay } from 'node:timers/promises'
import type {
  FileProcessingStatus,
  OutputFileUrl,
  RegisteredFile,
  RegisterFileAnswer,
  RegisterFileFromUrlAnswer,
  StartProcessAnswer,
} from '../../../src/contract/index.js'
import type { RunningService } from '../../../src/service/index.js'
import { freshToken } from './with-service.js'

/** A stranger's client: fetch and the interface's text, nothing of ours. */
export interface ApiClient {
  readonly token: string
  post(operation: string, body: unknown, headers?: Record<string, string>): Promise<Response>
  register(clientFileId: string, part?: { start?: number; end?: number }): Promise<RegisteredFile>
  registerUrl(clientFileId: string, sourceUrl: string): Promise<string>
  upload(link: string, bytes: Uint8Array | string, headers?: Record<string, string>): Promise<Response>
  start(fileId: string, options?: object): Promise<StartProcessAnswer>
  status(...fileIds: string[]): Promise<FileProcessingStatus[]>
  /** Asks until the file has ended. */
  ended(fileId: string): Promise<FileProcessingStatus>
  outputUrl(fileId: string): Promise<OutputFileUrl>
}

export async function apiClient(service: RunningService, token?: string): Promise<ApiClient> {
  const bearer = token ?? (await freshToken(service))
  const post: ApiClient['post'] = (operation, body, headers) =>
    fetch(`${service.baseUrl}/api/v1/${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}`, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const asked = async <T>(operation: string, body: unknown): Promise<T> => {
    const answer = await post(operation, body)
    if (answer.status !== 200) throw new Error(`${operation} answered ${answer.status}: ${await answer.text()}`)
    return (await answer.json()) as T
  }
  const status = (...fileIds: string[]) => asked<FileProcessingStatus[]>('getFilesStatus', { fileIds })
  return {
    token: bearer,
    post,
    status,
    register: async (client_file_id, part) =>
      (await asked<RegisterFileAnswer>('registerFile', { file_to_register: { client_file_id, ...part } }))
        .registered_file,
    registerUrl: async (client_file_id, source_url) =>
      (
        await asked<RegisterFileFromUrlAnswer>('registerFileFromUrl', {
          file_to_register: { client_file_id, source_url },
        })
      ).registered_file.file_id,
    upload: (link, bytes, headers) =>
      fetch(link, {
        method: 'PUT',
        headers: { 'content-type': 'application/octet-stream', 'x-ms-blob-type': 'BlockBlob', ...headers },
        body: bytes,
      }),
    start: (file_id, options) => asked('startProcess', { file_id, options: { model: 'regen_v1', ...options } }),
    async ended(fileId) {
      for (;;) {
        const [entry] = await status(fileId)
        if (entry && (entry.status === 'Succeeded' || entry.status === 'Failed')) return entry
        await delay(50)
      }
    },
    outputUrl: (fileId) => asked('getOutputFileUrl', { fileId }),
  }
}
