import { createReadStream, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Fault } from './fault.js'

/** An answer before it is sent: JSON, or a part of a file (`endByte` excluded). */
export interface Reply {
  status: number
  headers?: Record<string, string>
  body?: unknown
  file?: { path: string; startByte: number; endByte: number }
}

/** 400 as the interface has it, and the others as operation messages. */
export function errorReply(status: number, message = `made to fail with ${status}`): Reply {
  const body =
    status === 400
      ? { statusCode: 400, code: 'FST_ERR_VALIDATION', error: 'Bad Request', message }
      : { statusCode: status, message }
  return { status, body }
}

/** Sends a reply, spoilt where the fault says so. Faults that come before the work are not seen here. */
export async function sendReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  fault: Fault | undefined,
): Promise<void> {
  // A request that was read to its end may have let go of its socket; the answer has not.
  const socket = response.socket ?? request.socket
  if (fault?.kind === 'reset-after') {
    socket.resetAndDestroy()
    return
  }
  if (fault?.kind === 'garbage') return text(response, 200, '<html>not at all what was asked</html>')
  if (fault?.kind === 'wrong-shape') return text(response, 200, JSON.stringify({ surprise: true }))
  if (fault?.kind === 'drip') return drip(response, reply)
  const cut = fault?.kind === 'truncated' ? fault : undefined
  if (reply.file) return sendFile(request, response, reply, cut)
  const body = reply.body === undefined ? '' : JSON.stringify(reply.body)
  if (!cut) return text(response, reply.status, body, reply.headers)
  response.writeHead(reply.status, { ...reply.headers, 'content-length': Buffer.byteLength(body) })
  response.write(body.slice(0, cut.bytes ?? Math.floor(body.length / 2)), () => void socket.destroy())
}

function text(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  })
  response.end(body)
}

function drip(response: ServerResponse, { status, headers, file }: Reply): void {
  response.writeHead(status, headers)
  const bytes = file ? readFileSync(file.path) : Buffer.of()
  let at = file?.startByte ?? 0
  const timer = setInterval(() => void response.write(bytes.subarray(at, ++at).toString('latin1') || ' ', 'latin1'), 20)
  response.once('close', () => clearInterval(timer))
}

async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, file }: Reply,
  cut: { bytes?: number } | undefined,
): Promise<void> {
  if (!file) return
  const length = file.endByte - file.startByte
  const socket = response.socket ?? request.socket
  response.writeHead(status, { 'content-type': 'application/octet-stream', 'content-length': length, ...headers })
  const sent = cut ? Math.min(cut.bytes ?? Math.floor(length / 2), length) : length
  if (request.method === 'HEAD' || sent === 0) {
    if (cut) socket.destroy()
    else response.end()
    return
  }
  const bytes = createReadStream(file.path, { start: file.startByte, end: file.startByte + sent - 1 })
  await pipeline(bytes, response, { end: !cut }).catch(() => {})
  // Given a moment to leave, so that what was to arrive before the break does arrive.
  if (cut) setTimeout(() => void socket.destroy(), 20)
}
