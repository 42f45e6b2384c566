import { throwIfAborted, withTimeLimit } from '../../core/abort.js'
import { timeoutOptionsSchema } from '../client-options.js'
import { createTransport } from '../transport.js'

/** The length only adds to what is known, so nobody waits long for it. */
const PATIENCE_MS = 5000

/**
 * Asks a server how long the file at a public address is. It is one HEAD request, because a link may be good for a
 * single download.
 *
 * @returns bytes; null if the server does not say
 * @throws InterruptedError only
 */
export async function addressBytes(address: string, signal: AbortSignal): Promise<number | null> {
  const transport = createTransport(timeoutOptionsSchema.parse({}))
  try {
    const { status, headers } = await withTimeLimit(PATIENCE_MS, signal, (limited) =>
      transport.sendText({
        ...{ operation: 'download', method: 'HEAD', url: address, headers: { 'accept-encoding': 'identity' } },
        signal: limited,
      }),
    )
    const length = headers['content-encoding'] ? undefined : headers['content-length']
    return status === 200 && length !== undefined ? Number(length) : null
  } catch {
    throwIfAborted(signal)
    return null
  }
}
