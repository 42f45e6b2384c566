import { randomUUID } from 'node:crypto'
import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { OPERATIONS, type OperationName } from '../../src/contract/index.js'
import { FAULT_OPERATIONS, type Fault, type FaultOperation, FaultQueue } from './fault-server/fault.js'
import type { RemoteFile } from './fault-server/remote-file.js'
import { errorReply, type Reply, sendReply } from './fault-server/reply.js'
import { CREDENTIALS, FakeService, type ServiceBehaviour } from './fault-server/service.js'
import { FakeStorage } from './fault-server/storage.js'

export type { Fault, FaultOperation } from './fault-server/fault.js'
export type { RemoteFile, ScriptedStatus } from './fault-server/remote-file.js'
export type { ServiceBehaviour } from './fault-server/service.js'

/** One request that arrived. `body` is what its JSON or form said; uploads have none here. */
export interface RecordedRequest {
  operation: FaultOperation
  method: string
  headers: IncomingMessage['headers']
  body: unknown
  atMs: number
}

const TENANT_PATH = `/${CREDENTIALS.tenantId}/oauth2/v2.0/token`
const BLOCK_TYPE_HEADER = 'x-ms-blob-type'

/**
 * The whole wire of the service on loopback, which fails on command:
 *
 *     const server = await FaultServer.start({ regenerate: (path) => quieter(path) })
 *     server.fail('startProcess', { kind: 'reset-after' })
 *     const client = new VoxmuxClient(server.clientOptions)      // or a child with env: server.env
 *     …
 *     expect(server.calls.startProcess).toBe(1)
 *     await server.close()     // throws where a bearer went to storage or a PUT had no length
 *
 * "Regeneration" is identity unless `regenerate` says otherwise; `behaviour` may be changed at any time.
 */
export class FaultServer {
  readonly behaviour: ServiceBehaviour
  /** How often each operation was asked for, faults included. */
  readonly calls = Object.fromEntries(FAULT_OPERATIONS.map((name) => [name, 0])) as Record<FaultOperation, number>
  readonly requests: RecordedRequest[] = []
  /** What no client may do; `close` throws where there is any. Take out what a test does on purpose. */
  readonly violations: string[] = []
  readonly storage = new FakeStorage(this.violations)
  /** Name of the header that must say BlockBlob. */
  blockTypeHeader = BLOCK_TYPE_HEADER
  readonly #service: FakeService
  readonly #faults = new FaultQueue()
  readonly #servers: Server[] = []
  readonly #dir: string
  readonly #ended = new AbortController()
  #address = ''

  private constructor(dir: string, behaviour: Partial<ServiceBehaviour>) {
    this.#dir = dir
    this.behaviour = {
      regenerate: async (path, { fileId }) => {
        const output = join(dir, `${fileId}.out`)
        await copyFile(path, output)
        return output
      },
      states: [
        { status: 'InProgress', errorCode: 0, progress: 50 },
        { status: 'Succeeded', errorCode: 0, progress: 100 },
      ],
      repeatedStart: 'accepted',
      newId: randomUUID,
      tokenLifetimeSec: 3599,
      linkLifetimeSec: 3600,
      webhook: undefined,
      ...behaviour,
    }
    this.#service = new FakeService(dir, this.storage, this.behaviour)
  }

  static async start(behaviour: Partial<ServiceBehaviour> = {}): Promise<FaultServer> {
    const server = new FaultServer(await mkdtemp(join(tmpdir(), 'voxmux-fault-')), behaviour)
    server.#address = await server.#listen((request, response) => server.#api(request, response))
    server.storage.address = await server.#listen((request, response) => server.#blob(request, response))
    return server
  }

  /** The six options of a client. */
  get clientOptions() {
    return { baseUrl: this.#address, authUrl: `${this.#address}/auth`, ...CREDENTIALS }
  }

  /** The six variables of the environment. */
  get env(): Record<string, string> {
    const { baseUrl, authUrl, tenantId, clientId, clientSecret, scope } = this.clientOptions
    return {
      VOXMUX_BASE_URL: baseUrl,
      VOXMUX_AUTH_URL: authUrl,
      VOXMUX_TENANT_ID: tenantId,
      VOXMUX_CLIENT_ID: clientId,
      VOXMUX_CLIENT_SECRET: clientSecret,
      VOXMUX_SCOPE: scope,
    }
  }

  /** Files registered so far, in order. */
  get files(): RemoteFile[] {
    return [...this.#service.files.values()]
  }

  /** Processes charged, over all files. */
  get charges(): number {
    return this.files.reduce((sum, file) => sum + file.charges, 0)
  }

  /** Spoils the next `times` requests of an operation (Infinity: all until `heal`). */
  fail(operation: FaultOperation, fault: Fault, times = 1): void {
    this.#faults.add(operation, fault, times)
  }

  /** Forgets the faults not yet used, of one operation or of all. */
  heal(operation?: FaultOperation): void {
    this.#faults.clear(operation)
  }

  revokeTokens(): void {
    this.#service.revokeTokens()
  }

  expireLinks(): void {
    this.storage.expireLinks()
  }

  requestsOf(operation: FaultOperation): RecordedRequest[] {
    return this.requests.filter((request) => request.operation === operation)
  }

  async close(): Promise<void> {
    this.#ended.abort()
    await Promise.all(
      this.#servers.map((server) => {
        server.closeAllConnections()
        return new Promise((resolve) => server.close(resolve))
      }),
    )
    await rm(this.#dir, { recursive: true, force: true })
    if (this.violations.length > 0) throw new Error(`The client did what it must not: ${this.violations.join('; ')}`)
  }

  #listen(handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Promise<string> {
    const server = createServer((request, response) => {
      const { socket } = request
      handle(request, response).catch(() => void socket.destroy())
    })
    this.#servers.push(server)
    return new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
    })
  }

  async #api(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', this.#address)
    const raw = await bodyOf(request)
    if (pathname === '/__fault') return this.#control(request, response, raw)
    if (pathname === `/auth${TENANT_PATH}`) {
      const form = new URLSearchParams(raw)
      return this.#serve('token', request, response, Object.fromEntries(form), () => this.#service.token(form))
    }
    const name = (Object.keys(OPERATIONS) as OperationName[]).find((key) => OPERATIONS[key].path === pathname)
    if (!name || OPERATIONS[name].method !== request.method)
      return sendReply(request, response, errorReply(404), undefined)
    const body = parse(raw)
    return this.#serve(name, request, response, body, (fault) => this.#service.call(name, request, body, fault))
  }

  async #blob(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.storage.address)
    const file = this.storage.linked(url)
    this.storage.inspect(request)
    if (request.method === 'PUT') {
      const work = () => this.storage.put(request, file, this.blockTypeHeader)
      return this.#serve('upload', request, response, undefined, work)
    }
    return this.#serve('download', request, response, undefined, (fault) => {
      if (fault?.kind !== 'redirect') return this.storage.get(request, file)
      return { status: 302, headers: { location: fault.location ?? `${url.href}&again=1` } }
    })
  }

  /** Counts and records a request, and answers it with the next fault in wait or as it should be. */
  async #serve(
    operation: FaultOperation,
    request: IncomingMessage,
    response: ServerResponse,
    body: unknown,
    work: (fault: Fault | undefined) => Reply | Promise<Reply>,
  ): Promise<void> {
    this.calls[operation]++
    // Kept, since a request that was read or destroyed has lost it.
    const { headers, method = '', socket } = request
    this.requests.push({ operation, method, headers, body, atMs: Date.now() })
    const fault = this.#faults.take(operation)
    switch (fault?.kind) {
      case 'status': {
        await drained(request)
        if (fault.done) await work(undefined)
        const retryAfter = fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter }
        return sendReply(
          request,
          response,
          { ...errorReply(fault.status, fault.message), headers: retryAfter },
          undefined,
        )
      }
      case 'answer': {
        await drained(request)
        response.writeHead(fault.status ?? 200, fault.headers)
        response.end(typeof fault.body === 'string' ? fault.body : JSON.stringify(fault.body))
        return
      }
      case 'file': {
        await drained(request)
        const { size } = await stat(fault.path)
        const file = { path: fault.path, startByte: 0, endByte: size }
        const cut: Fault | undefined =
          fault.endByte === undefined ? undefined : { kind: 'truncated', bytes: fault.endByte }
        return sendReply(request, response, { status: 200, headers: fault.headers ?? {}, file }, cut)
      }
      case 'start-error': {
        if (fault.done) await work(undefined)
        const { file_id } = body as { file_id: string }
        const error = { code: fault.code, message: fault.message ?? 'made to fail' }
        return sendReply(request, response, { status: 200, body: { file_id, error } }, undefined)
      }
      case 'reset':
        if (operation === 'upload') await received(request, Number(request.headers['content-length'] ?? 0) / 2)
        socket.resetAndDestroy()
        return
      case 'switch':
        await drained(request)
        socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: other\r\nconnection: upgrade\r\n\r\n')
        return
      case 'hang':
        return
      case 'stall': {
        const timer = setInterval(() => void response.writeProcessing(), 20)
        response.once('close', () => clearInterval(timer))
        return
      }
      case 'slow':
        await delay(fault.delayMs, undefined, { signal: this.#ended.signal })
        return sendReply(request, response, await work(undefined), undefined)
      default:
        return sendReply(request, response, await work(fault), fault)
    }
  }

  /** For a server in a process of its own: GET tells what happened, POST `{operation, fault, times}` adds a fault. */
  #control(request: IncomingMessage, response: ServerResponse, raw: string): Promise<void> {
    if (request.method === 'POST') {
      const { operation, fault, times } = JSON.parse(raw) as { operation: FaultOperation; fault: Fault; times?: number }
      this.fail(operation, fault, times)
    }
    const { calls, charges, violations } = this
    return sendReply(request, response, { status: 200, body: { calls, charges, violations } }, undefined)
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

async function drained(request: IncomingMessage): Promise<void> {
  if (!request.readableEnded) for await (const _ of request);
}

async function received(request: IncomingMessage, bytes: number): Promise<void> {
  let seen = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    seen += (chunk as Buffer).length
    if (seen >= bytes) return
  }
}

function parse(raw: string): unknown {
  try {
    return JSON.parse(raw)
  } catch {
    return undefined
  }
}
