import type { Writable } from 'node:stream'
import { systemCode } from '../../core/errors.js'

/** Codes of a reader that ended early, as `head -1` does. */
const READER_GONE: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ECONNRESET'])

/** Remembers the first fault of a stream, unless its reader has gone. The later ones only follow from it. */
export function firstFault(stream: Writable): () => NodeJS.ErrnoException | undefined {
  let first: NodeJS.ErrnoException | undefined
  stream.on('error', (error) => {
    first ??= error
  })
  return () => (READER_GONE.has(first?.code) ? undefined : first)
}

/** The line for people about a fault of stdout. */
export function stdoutFaultLine(fault: NodeJS.ErrnoException): string {
  const code = systemCode(fault)
  const isFull = code === 'ENOSPC' || code === 'EDQUOT'
  const why = isFull ? 'its disk has no space left. Free some space' : `of a fault (${fault.message}). Check its place`
  return `voxmux: The output on stdout is incomplete, because ${why}, then run the same command again.`
}
