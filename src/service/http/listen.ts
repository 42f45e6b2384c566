import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { UsageError } from '../../core/errors.js'

/** Makes an app listen. @returns its address for clients on this machine */
export async function listenAt(app: FastifyInstance, host: string, port: number): Promise<string> {
  await app.listen({ host, port }).catch((error: unknown) => {
    throw listenFault(error, host, port)
  })
  return addressOf(app.server, host)
}

/** Makes a bare server listen. @returns its address for clients on this machine */
export async function listenServer(server: Server, host: string, port: number): Promise<string> {
  await once(server.listen({ host, port }), 'listening').catch((error: unknown) => {
    throw listenFault(error, host, port)
  })
  return addressOf(server, host)
}

/** An address to which paths can be appended. */
export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

function addressOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  const wildcards: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }
  const name = wildcards[host] ?? (host.includes(':') ? `[${host}]` : host)
  return `http://${name}:${port}`
}

function listenFault(error: unknown, host: string, port: number): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new UsageError('ERR_PORT_TAKEN', `Port ${port} of ${host} is already in use.`, {
        cause: error,
        remedies: ['Choose another port with --port, or --port 0 for any free one.'],
      })
    case 'EACCES':
      return cannotListen(error, `${host}, port ${port}: this user may not use it`, 'Use a --port above 1023.')
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return cannotListen(
        error,
        `${host}: this machine does not have that address`,
        'Use a --host of this machine, such as 127.0.0.1, or 0.0.0.0 for all of its addresses.',
      )
    default:
      return error
  }
}

function cannotListen(cause: unknown, where: string, remedy: string): UsageError {
  return new UsageError('ERR_CANNOT_LISTEN', `The service cannot listen at ${where}.`, { cause, remedies: [remedy] })
}

/** The ports of a node. */
export interface ServicePorts {
  readonly host: string
  readonly port: number
  readonly storagePort: number
}

/** Names each port that is in use, or both that are forbidden, if the storage cannot listen. Any other fault stays. */
export async function storagePortTaken(error: unknown, { host, port, storagePort }: ServicePorts): Promise<unknown> {
  const isNext = storagePort === port + 1
  const code = error instanceof UsageError ? error.code : null
  if (
    code === 'ERR_CANNOT_LISTEN' &&
    isNext &&
    (error as Error & { cause: NodeJS.ErrnoException }).cause.code === 'EACCES'
  )
    return cannotListen(
      error,
      `${host}, ports ${port} and ${storagePort}: this user may not use them`,
      'Use a --port above 1023.',
    )
  if (code !== 'ERR_PORT_TAKEN') return error
  const isBoth = port !== 0 && (await isTaken(host, port))
  const own = 'name another port for the storage: `storagePort` in the file of --settings.'
  const remedies = isNext
    ? [`Choose a --port with a free one after it, such as ${port + 2}, or --port 0 for any.`, `Or ${own}`]
    : [...(isBoth ? ['Choose another port for the service with --port.'] : []), own.replace(/^n/, 'N')]
  const message = isBoth
    ? `Ports ${port} (service) and ${storagePort} (storage) of ${host} are already in use.`
    : isNext
      ? `Port ${port} cannot be used: the storage needs the next port, ${storagePort}, which is already in use.`
      : `Port ${storagePort} of ${host}, which \`storagePort\` names, is already in use.`
  return new UsageError('ERR_PORT_TAKEN', message, { cause: error, remedies })
}

async function isTaken(host: string, port: number): Promise<boolean> {
  const server = createServer()
  try {
    await listenServer(server, host, port)
    return false
  } catch (error) {
    return error instanceof UsageError && error.code === 'ERR_PORT_TAKEN'
  } finally {
    server.close()
  }
}
