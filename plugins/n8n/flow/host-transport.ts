import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow'
import { HttpFault } from '../../../src/client/http-fault.js'
import { networkFault } from '../../../src/client/network-fault.js'
import type { Answer, Exchange, TextAnswer, TextTransport } from '../../../src/client/transport.js'
import { InterruptedError } from '../../../src/core/errors.js'
import type { Bytes } from './item-file.js'

/** Longest silence of the service or of the storage. */
const SILENCE_MS = 60_000

interface FullResponse {
  readonly statusCode: number
  readonly headers: Answer['headers']
  readonly body: unknown
}

/** A response whose bytes were not read. */
export interface OpenedDownload extends Answer {
  readonly bytes: Exclude<Bytes, Buffer>
}

/** Sends requests as n8n does, with its proxy and its certificates. No redirect is followed. */
export interface HostTransport extends TextTransport {
  /** Sends a file whose length stands in the headers. */
  put(exchange: Exchange & { readonly body: Bytes }): Promise<TextAnswer>
  open(exchange: Exchange): Promise<OpenedDownload>
}

export function hostTransport(helpers: IExecuteFunctions['helpers']): HostTransport {
  async function send(exchange: Exchange, options: Omit<IHttpRequestOptions, 'url'>): Promise<FullResponse> {
    const { operation, url, headers = {}, signal } = exchange
    try {
      const response = await helpers.httpRequest({
        ...options,
        ...(signal ? { abortSignal: signal } : {}),
        url,
        headers: { ...headers },
        // With redirects, the library of n8n would keep an upload in memory to send it again.
        disableFollowRedirect: true,
        returnFullResponse: true,
        ignoreHttpStatusErrors: true,
        timeout: SILENCE_MS,
      })
      return response as FullResponse
    } catch (thrown) {
      if (signal?.aborted) throw new InterruptedError('Interrupted.', { cause: signal.reason })
      const isSilent = (thrown as { code?: string }).code === 'ECONNABORTED'
      throw isSilent
        ? new HttpFault({ operation, reason: 'timeout', detail: 'no response in time' })
        : networkFault(operation, thrown)
    }
  }

  return {
    async sendText(exchange) {
      const { method, json, form } = exchange
      const type = json === undefined ? 'application/x-www-form-urlencoded' : 'application/json'
      const body = json === undefined ? form && new URLSearchParams(form).toString() : JSON.stringify(json)
      const headers = { ...exchange.headers, ...(body ? { 'content-type': type } : {}) }
      return textOf(await send({ ...exchange, headers }, { method, body, encoding: 'text' }))
    },
    async put({ body, ...exchange }) {
      try {
        return textOf(await send(exchange, { method: 'PUT', body, encoding: 'text' }))
      } finally {
        if (!Buffer.isBuffer(body)) body.destroy()
      }
    },
    async open(exchange) {
      const headers = { ...exchange.headers, 'accept-encoding': 'identity' }
      const {
        statusCode,
        headers: received,
        body,
      } = await send({ ...exchange, headers }, { method: 'GET', encoding: 'stream' })
      return { status: statusCode, headers: received, bytes: body as OpenedDownload['bytes'] }
    },
  }
}

function textOf({ statusCode, headers, body }: FullResponse): TextAnswer {
  return { status: statusCode, headers, text: typeof body === 'string' ? body : JSON.stringify(body ?? '') }
}
