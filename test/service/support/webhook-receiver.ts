import type { IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { type WebhookBody, webhookBodySchema } from '../../../src/contract/index.js'
import { withServer } from './file-server.js'

/** A webhook as it arrived. */
export interface Arrived {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly query: Record<string, string>
  readonly event: WebhookBody
}

/** A real receiver. `answer`: the status it gives to the n-th request, counted from 0. */
export async function webhookReceiver(answer: (index: number) => number = () => 204) {
  const arrived: Arrived[] = []
  const url = await withServer(async (request, response) => {
    const query = Object.fromEntries(new URL(request.url ?? '/', 'http://x').searchParams)
    const body = await text(request)
    const { userId, type, secret, message = 'null' } = query
    const event = request.method === 'GET' ? { userId, type, secret, message: JSON.parse(message) } : JSON.parse(body)
    arrived.push({
      method: request.method ?? '',
      headers: request.headers,
      query,
      event: webhookBodySchema.parse(event),
    })
    response.writeHead(answer(arrived.length - 1)).end()
  })
  return { url, arrived }
}
