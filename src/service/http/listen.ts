import type { AddressInfo, Server } from 'node:net'
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
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenFault(error, host, port)))
    server.listen({ host, port }, resolve)
  })
  return addressOf(server, host)
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
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new UsageError('ERR_CANNOT_LISTEN', `The service cannot listen at ${host}, port ${port}.`, {
        cause: error,
        remedies: ['Use an address of this machine and a port above 1023.'],
      })
    default:
      return error
  }
}

/**
 * Names the port that the person gave if the next one, which its storage takes, is in use. Any other fault stays.
 */
export function nextPortTaken(error: unknown, port: number): unknown {
  if (!(error instanceof UsageError) || error.code !== 'ERR_PORT_TAKEN') return error
  const message = `Port ${port} cannot be used: the storage needs the next port, ${port + 1}, which is already in use.`
  return new UsageError('ERR_PORT_TAKEN', message, {
    cause: error,
    remedies: [
      `Choose a --port with a free one after it, such as ${port + 2}, or --port 0 for any.`,
      'Or name another port for the storage: `storagePort` in the file of --settings.',
    ],
  })
}
