import { connect } from 'node:tls'

/** Longest wait for a handshake. The server is on this machine, as everything that is called by plain http. */
const HANDSHAKE_MS = 2000

/** Words of nginx, Apache and Go for plain http on a port for https. */
const REFUSAL =
  /plain HTTP request was sent to HTTPS port|plain HTTP to an SSL-enabled server|HTTP request to an HTTPS/i

/** True if a server refused plain http in these words, because it speaks https. */
export function asksForHttps(url: string, { status, text }: { readonly status: number; readonly text: string }) {
  return status === 400 && url.startsWith('http:') && REFUSAL.test(text)
}

/** True if a server that broke the connection to an http address speaks TLS there. */
export function speaksTls(url: string): Promise<boolean> {
  const { protocol, hostname, port } = new URL(url)
  if (protocol !== 'http:') return Promise.resolve(false)
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, '')
    // The certificate is not checked, because nothing is sent over this connection.
    const socket = connect({ host, port: Number(port || 80), rejectUnauthorized: false, timeout: HANDSHAKE_MS })
    const settle = (isTls: boolean) => {
      socket.destroy()
      resolve(isTls)
    }
    socket.once('secureConnect', () => settle(true))
    socket.once('timeout', () => settle(false))
    socket.on('error', () => settle(false))
  })
}
