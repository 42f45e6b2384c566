import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Logger } from '../core/logger.js'
import type { ResolvedClientOptions } from './client-options.js'
import { ServiceApi } from './service-api.js'
import { StatusWatcher } from './status-watcher.js'
import { TokenProvider } from './token-provider.js'
import type { TrafficMeter } from './traffic-meter.js'
import { createTransport, type Transport } from './transport.js'

/** Shared by all clients of one service and identity: one token and one poller. */
export interface ServiceSession {
  readonly transport: Transport
  readonly api: ServiceApi
  readonly watcher: StatusWatcher
  /** Each user calls it once. The last call ends the polling. */
  release(): void
}

interface Shared extends Omit<ServiceSession, 'release'> {
  users: number
}

const sessions = new Map<string, Shared>()

/** Joins this process's session for a service and identity. The first caller's options and meter apply. */
export function openServiceSession(
  options: ResolvedClientOptions,
  logger: Logger,
  meter?: TrafficMeter,
): ServiceSession {
  // A hash, so that the key does not contain the secret.
  const key = createHash('sha256').update(JSON.stringify(options)).digest('hex')
  const shared = sessions.get(key) ?? create(options, logger, meter)
  sessions.set(key, shared)
  shared.users++
  let released = false
  return {
    transport: shared.transport,
    api: shared.api,
    watcher: shared.watcher,
    release: () => {
      if (released) return
      released = true
      if (--shared.users > 0) return
      sessions.delete(key)
      shared.watcher.close()
    },
  }
}

function create(options: ResolvedClientOptions, logger: Logger, meter: TrafficMeter | undefined): Shared {
  const plain = createTransport(options.timeouts)
  const transport = meter ? meteredTransport(plain, meter) : plain
  const tokens = new TokenProvider(options, transport, logger)
  const api = new ServiceApi(options, transport, tokens, logger)
  const watcher = new StatusWatcher((ids, signal) => api.getFilesStatus(ids, { signal }), options.polling, logger)
  return { transport, api, watcher, users: 0 }
}

/** Adds a meter to a transport: it counts requests of every kind, and the bytes of uploads and downloads. */
function meteredTransport(transport: Transport, meter: TrafficMeter): Transport {
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

async function* counted(buffers: AsyncIterable<Buffer>, count: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const buffer of buffers) {
    count(buffer.length)
    yield buffer
  }
}
