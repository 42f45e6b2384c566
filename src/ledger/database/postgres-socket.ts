import { Socket } from 'node:net'

/** Code of the error when the server at an address is another program. */
export const NOT_POSTGRES = 'NOT_POSTGRES'

/** Longer than any first message of a server. */
const LONGEST_BYTES = 65_536

/** Creates a socket that fails at once, with {@link NOT_POSTGRES}, if another program than PostgreSQL answers. */
export function postgresSocket(): Socket {
  const socket = new Socket()
  socket.once('data', (first: Buffer) => {
    if (isPostgres(first)) return
    // Now, and not with `destroy`: pg would report a fault of TLS first.
    socket.emit('error', Object.assign(new Error('Another program answers.'), { code: NOT_POSTGRES }))
    socket.destroy()
  })
  return socket
}

/**
 * An answer to a request for TLS is one letter. Any other message is a letter and the length of the rest.
 *
 * Source: PostgreSQL, Message Formats (authentication, error, notice, negotiated version).
 */
function isPostgres(first: Buffer): boolean {
  const letter = first.toString('latin1', 0, 1)
  if (first.length === 1) return 'SNRE'.includes(letter)
  return 'RENv'.includes(letter) && (first.length < 5 || first.readUInt32BE(1) < LONGEST_BYTES)
}
