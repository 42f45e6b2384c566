import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { type ServiceOptions, startService } from '../../../src/service/index.js'
import { plainEngine } from '../../service/support/engines.js'
import { freshFolder } from '../../service/support/with-service.js'
import { freePort } from './free-port.js'

/** `before`: the service never gets the request. `after`: it does the work, and its response is lost. */
export type ProxyFault = 'before' | 'after'

/** The real embedded service behind a proxy that answers single requests with 503. */
export interface FaultyService {
  /** The six options of a client, with a key of its own. */
  readonly options: Record<'baseUrl' | 'authUrl' | 'tenantId' | 'clientId' | 'clientSecret' | 'scope', string>
  /** Requests so far, by operation: `token`, `upload`, `download`, or one of the interface. */
  readonly calls: Map<string, number>
  /** What the service executed about each file id that was started, in order. */
  readonly files: Map<string, ('start' | 'status')[]>
  /** Faults that were made. */
  faults: number
  /** Decides about each request of an operation, which are counted from 1. */
  plan: (operation: string, nth: number) => ProxyFault | undefined
}

/**
 * @param outer options of the service, whose engine gives back what it got
 * @returns a service that is closed after the test
 */
export async function faultyService(outer: Partial<ServiceOptions> = {}): Promise<FaultyService> {
  const targets = { api: '', storage: '' }
  const state = { calls: new Map<string, number>(), files: new Map<string, ('start' | 'status')[]>(), faults: 0 }
  const faulty: Omit<FaultyService, 'options'> = Object.assign(state, { plan: () => undefined })
  const proxy = (room: keyof typeof targets) => listen((request, response) => pass(targets[room], request, response))

  async function pass(target: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const operation = operationOf(request)
    const nth = (state.calls.get(operation) ?? 0) + 1
    state.calls.set(operation, nth)
    const fault = faulty.plan(operation, nth)
    if (fault) state.faults++
    if (fault === 'before') {
      request.resume()
      await once(request, 'end')
      response.writeHead(503, { 'content-type': 'application/json' }).end('{"message":"made to fail"}')
      return
    }
    const onward = send(new URL(request.url ?? '/', target), { method: request.method, headers: request.headers })
    const isSmall = operation === 'startProcess' || operation === 'getFilesStatus'
    const chunks: Buffer[] = []
    if (isSmall) request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.pipe(onward)
    const [answer] = (await once(onward, 'response')) as [IncomingMessage]
    if (isSmall && answer.statusCode === 200) remember(JSON.parse(Buffer.concat(chunks).toString()))
    if (fault === 'after') {
      answer.resume()
      response.writeHead(503).end()
      return
    }
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  }

  function remember({ file_id: started, fileIds = [] }: { file_id?: string; fileIds?: readonly string[] }): void {
    if (started) state.files.set(started, [...(state.files.get(started) ?? []), 'start'])
    for (const id of fileIds) state.files.get(id)?.push('status')
  }

  const [api, storage] = await Promise.all([proxy('api'), proxy('storage')])
  const dataDir = await freshFolder()
  const storagePort = await freePort()
  const place = { dataDir, engine: plainEngine, storagePort, publicStorageUrl: storage }
  const service = await startService({ ...place, ...outer })
  onTestFinished(() => service.close())
  Object.assign(targets, { api: service.baseUrl, storage: `http://127.0.0.1:${storagePort}` })
  const { clientId, clientSecret } = await service.createKey('test')
  const { tenantId, scope } = service
  const authUrl = `${api}${new URL(service.authUrl).pathname}`
  return Object.assign(faulty, { options: { baseUrl: api, authUrl, tenantId, clientId, clientSecret, scope } })
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Promise<string> {
  const server: Server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function operationOf({ method, url = '' }: IncomingMessage): string {
  if (method === 'PUT') return 'upload'
  if (url.includes('/oauth2/')) return 'token'
  return /\/api\/v1\/(\w+)/.exec(url)?.[1] ?? 'download'
}
