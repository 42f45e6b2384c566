import { networkInterfaces } from 'node:os'

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost'])

/**
 * Says how other machines reach a service: clients accept plain http only from their own.
 *
 * @param baseUrl address for clients
 * @param host address that it listens on
 * @returns lines; none if there is nothing to say
 */
export function reachNote(baseUrl: string, host: string): readonly string[] {
  if (baseUrl.startsWith('https:') || LOOPBACK.has(host)) return []
  const { port } = new URL(baseUrl)
  const addresses = Object.values(networkInterfaces())
    .flat()
    .flatMap((net) => (net && !net.internal && net.family === 'IPv4' ? [`http://${net.address}:${port}`] : []))
  return [
    '',
    `Clients on other machines need https. Put a proxy with TLS in front of ${addresses.join(', ') || baseUrl},`,
    'and name its address as "publicUrl" and "publicStorageUrl" in the settings: see docs/service.md.',
  ]
}
