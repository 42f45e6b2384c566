import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CredentialsSettings } from '../config/index.js'
import { withTimeLimit } from '../core/abort.js'
import { guardedRequest, requirePublicAddress } from '../core/address-guard.js'
import { TransientError, thrownMessage, UsageError } from '../core/errors.js'
import { redactUrl } from '../core/redact.js'

/** Room that a signature keeps for a time stamp. A longer one is refused. */
export const TIMESTAMP_BYTES = 16_384

const LIMIT_MS = 30_000

type TimestampSettings = Pick<CredentialsSettings, 'timestamp' | 'allowPrivateTimestamp'>

/**
 * Proves that the address of the time stamp authority is one that voxmux sends to.
 *
 * @throws {UsageError} `ERR_CREDENTIALS_TIMESTAMP`
 * @throws {TransientError} `ERR_CREDENTIALS_FAILED` if its name cannot be looked up
 */
export async function requireTimestampAddress({ timestamp, allowPrivateTimestamp }: TimestampSettings): Promise<void> {
  if (timestamp === undefined || allowPrivateTimestamp) return
  await requirePublicAddress(new URL(timestamp)).catch((cause: NodeJS.ErrnoException) => {
    const message = `The time stamp authority ${redactUrl(timestamp)} cannot be used: ${thrownMessage(cause)}`
    if (cause.code !== 'ERR_PRIVATE_ADDRESS') {
      throw new TransientError('ERR_CREDENTIALS_FAILED', message, { cause, remedies: ['Try again later.'] })
    }
    throw new UsageError('ERR_CREDENTIALS_TIMESTAMP', message, {
      cause,
      remedies: ['If it is in your own network, set `credentials.allowPrivateTimestamp`.'],
    })
  })
}

/**
 * Gives the package for C2PA an address for its time stamp: one on loopback, for one signature. The package would ask
 * the authority with a client of its own. This one passes the address guard, follows no redirect, and has limits.
 *
 * @param use signs; its address is undefined if no authority is configured
 * @throws what `use` throws, or the fault of the authority behind it
 */
export async function withTimestampRelay<T>(
  { timestamp, allowPrivateTimestamp = false }: TimestampSettings,
  signal: AbortSignal | undefined,
  use: (address?: string) => Promise<T>,
): Promise<T> {
  if (timestamp === undefined) return use()
  const authority = new URL(timestamp)
  // Another program of this machine must not find it.
  const path = `/${randomBytes(16).toString('hex')}`
  let fault: Error | undefined
  const server = createServer((request, response) => {
    if (request.url !== path) return void response.writeHead(404).end()
    withTimeLimit(LIMIT_MS, signal, (limited) => stampOf(request, authority, allowPrivateTimestamp, limited)).then(
      (stamp) => response.writeHead(200, { 'content-type': 'application/timestamp-reply' }).end(stamp),
      (cause: unknown) => {
        fault = new Error(`${redactUrl(authority)} gave no time stamp: ${thrownMessage(cause)}`, { cause })
        response.writeHead(502).end()
      },
    )
  })
  passProxies()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
  } catch (error) {
    throw fault ?? error
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

/** The package obeys the proxy variables of the environment, and a proxy cannot reach an address on loopback. */
function passProxies(): void {
  const passed = (process.env.NO_PROXY ?? process.env.no_proxy ?? '').split(',').filter((host) => host !== '')
  if (!passed.includes('127.0.0.1')) process.env.NO_PROXY = [...passed, '127.0.0.1'].join(',')
}

async function stampOf(
  request: IncomingMessage,
  authority: URL,
  allowPrivate: boolean,
  signal: AbortSignal,
): Promise<Buffer> {
  const answer = await guardedRequest(authority, {
    method: 'POST',
    headers: { 'content-type': 'application/timestamp-query' },
    body: await bytesOf(request),
    ...{ allowPrivate, idleTimeoutMs: LIMIT_MS, signal },
  })
  if (answer.statusCode === 200) return bytesOf(answer)
  answer.destroy()
  throw new Error(`it responded with status ${answer.statusCode}`)
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > TIMESTAMP_BYTES) throw new Error(`its response is larger than ${TIMESTAMP_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
