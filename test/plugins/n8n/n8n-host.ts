import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow'
import type { FaultyService } from '../../helpers/system/faulty-service.js'

/** The part of an execution of n8n that the operations use. It keeps binary data in the items. */
export function n8nHost(service: FaultyService, files: readonly Buffer[]): IExecuteFunctions {
  const parameters: Readonly<Record<string, unknown>> = { inputField: 'data', outputField: 'data', options: {} }
  return {
    getInputData: () => files.map(() => ({ json: {} })),
    getNode: () => ({ id: 'node', name: 'voxmux' }),
    getExecutionId: () => 'execution',
    getExecutionCancelSignal: () => undefined,
    getNodeParameter: (name, _index, fallback) => parameters[name] ?? fallback,
    getCredentials: async () => ({ ...service.options, model: 'regen_v1' }),
    continueOnFail: () => false,
    helpers: {
      httpRequest,
      assertBinaryData: (index) => ({ data: '', mimeType: 'audio/wav', fileName: `item-${index}.wav` }),
      getBinaryDataBuffer: async (index) => files[index] as Buffer,
      getBinaryStream: () => Promise.reject(new Error('Nothing is kept in files.')),
      getBinaryMetadata: () => Promise.reject(new Error('Nothing is kept in files.')),
      prepareBinaryData: async (data, fileName) => {
        const bytes = Buffer.isBuffer(data) ? data : await buffer(data)
        return { data: bytes.toString('base64'), mimeType: 'audio/wav', ...(fileName && { fileName }) }
      },
    },
  }
}

async function httpRequest({
  url,
  method,
  headers,
  body,
  encoding,
  abortSignal,
}: IHttpRequestOptions): Promise<unknown> {
  const sent = { ...(headers as Record<string, string>) }
  // fetch counts the bytes itself.
  delete sent['content-length']
  const response = await fetch(url, {
    ...{
      headers: sent,
      redirect: 'manual',
      signal: abortSignal ?? null,
      body: (body ?? null) as Exclude<RequestInit['body'], undefined>,
    },
    ...(method && { method }),
  })
  const { status: statusCode } = response
  const isStream = encoding === 'stream' && response.body
  return {
    statusCode,
    headers: Object.fromEntries(response.headers),
    body: isStream ? Readable.fromWeb(response.body as never) : await response.text(),
  }
}
