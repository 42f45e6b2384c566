import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'

/** What tells one state of a file from another without reading it. */
export interface QuickIdentity {
  readonly sizeBytes: number
  readonly mtimeMs: number
}

/** Size and modification time of a file. */
export async function quickIdentity(path: string): Promise<QuickIdentity> {
  const { size, mtimeMs } = await stat(path)
  return { sizeBytes: size, mtimeMs: Math.round(mtimeMs) }
}

/** SHA-256 of a file's bytes, hex; memory does not grow with the file. */
export async function fileSha256(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  const source = createReadStream(path, { highWaterMark: 1 << 20 })
  await pipeline(source, hash, ...(signal ? [{ signal }] : []))
  return hash.digest('hex')
}

/** SHA-256, hex, of a value's canonical JSON: keys sorted, undefined left out. */
export function valueSha256(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex')
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
