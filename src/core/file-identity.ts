import { createHash } from 'node:crypto'
import { open, stat } from 'node:fs/promises'
import { throwIfAborted } from './abort.js'

/** Tells one state of a file from another without reading the file. */
export interface QuickIdentity {
  readonly sizeBytes: number
  readonly mtimeMs: number
}

/** Size and modification time of a file. */
export async function quickIdentity(path: string): Promise<QuickIdentity> {
  const { size, mtimeMs } = await stat(path)
  return { sizeBytes: size, mtimeMs: Math.round(mtimeMs) }
}

/** True if a file is in the recorded state. @param recorded without figures for a file that nobody here has seen */
export function isSameState(
  recorded: { readonly [K in keyof QuickIdentity]: number | null } | null | undefined,
  found: QuickIdentity | undefined,
): boolean {
  return found !== undefined && recorded?.sizeBytes === found.sizeBytes && recorded.mtimeMs === found.mtimeMs
}

/** True if two paths lead to one existing file: through a link, another mount, or a name in different case. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map((path) => stat(path, { bigint: true }).catch(() => null)))
  if (!first || !second || first.dev !== second.dev || first.ino !== second.ino) return false
  // On some file systems all file numbers are 0, or are not unique.
  return first.size === second.size && first.mtimeNs === second.mtimeNs
}

/** True if a file has the recorded bytes; false if it is gone. Reads it only if its size agrees. */
export async function hasBytes(
  path: string,
  { sizeBytes, sha256 }: { readonly sizeBytes: number | null; readonly sha256: string | null },
  signal?: AbortSignal,
): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.size === sizeBytes && (await fileSha256(path, signal)) === sha256
}

const READ_BYTES = 512 * 1024

/**
 * SHA-256 of a file's bytes, in hex. Reads into one buffer while the other is hashed. Both are reused, because a stream
 * makes garbage faster than it is collected.
 */
export async function fileSha256(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  let [buffer, other] = [Buffer.allocUnsafe(READ_BYTES), Buffer.allocUnsafe(READ_BYTES)]
  await using file = await open(path, 'r')
  for (let reading = file.read(buffer, 0, READ_BYTES, null); ; ) {
    const { bytesRead } = await reading
    throwIfAborted(signal)
    if (bytesRead === 0) return hash.digest('hex')
    const bytes = buffer.subarray(0, bytesRead)
    ;[buffer, other] = [other, buffer]
    reading = file.read(buffer, 0, READ_BYTES, null)
    hash.update(bytes)
  }
}

/** SHA-256, in hex, of a value's canonical JSON: keys sorted, undefined left out. */
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
