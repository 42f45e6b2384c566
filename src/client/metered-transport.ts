import { Readable } from 'node:stream'
import type { TrafficMeter } from './traffic-meter.js'
import type { Transport } from './transport.js'

/** Adds a meter to a transport: it counts requests of every kind, and the bytes of uploads and downloads. */
export function meteredTransport(transport: Transport, meter: TrafficMeter): Transport {
  return {
    sendText(exchange) {
      meter.onRequest(exchange.operation)
      return transport.sendText(exchange)
    },
    putStream(exchange) {
      meter.onRequest(exchange.operation)
      const body = Readable.from(
        counted(exchange.body, (bytes) => meter.onBytesSent(bytes)),
        { objectMode: false },
      )
      return transport.putStream({ ...exchange, body })
    },
    async getStream(exchange) {
      meter.onRequest(exchange.operation)
      const answer = await transport.getStream(exchange)
      return { ...answer, bytes: counted(answer.bytes, (bytes) => meter.onBytesReceived(bytes)) }
    },
    onRepeat: (operation) => meter.onRepeat(operation),
  }
}

async function* counted(chunks: AsyncIterable<Buffer>, count: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    count(chunk.length)
    yield chunk
  }
}
