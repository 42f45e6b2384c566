import { open } from 'node:fs/promises'
import { readAt } from '../core/read-at.js'
import { isoBoxes } from '../media/index.js'

/** How Content Credentials travel with a file. */
export interface Carrier {
  readonly kind: 'embedded' | 'sidecar'
  readonly mimeType: string
}

/** Containers in which the package writes a manifest. All others have a sidecar. */
const EMBEDS: Readonly<Record<string, string>> = {
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  m4a: 'audio/mp4',
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  flac: 'audio/flac',
}

/** A type that the package does not know. It then hashes the whole file, which is right beside a sidecar. */
const WHOLE_FILE = 'application/octet-stream'

/** 32-bit sizes and offsets end here; the manifest needs some of the room. */
const FULL_BYTES = 2 ** 32 - 2 ** 24

/** Chooses the carrier of a file: RIFF above 4 GB, RF64, and files with full 32-bit offsets have no room. */
export async function carrierOf(path: string, container: string): Promise<Carrier> {
  const mimeType = EMBEDS[container]
  const sidecar = { kind: 'sidecar', mimeType: WHOLE_FILE } as const
  if (mimeType === undefined) return sidecar
  await using file = await open(path, 'r')
  const { size } = await file.stat()
  const isFull = size > FULL_BYTES
  if (container === 'wav') {
    const isRiff = (await readAt(file, 0, 4)).toString('latin1') === 'RIFF'
    return isRiff && !isFull ? { kind: 'embedded', mimeType } : sidecar
  }
  const offsets = isFull ? await isoBoxes(file, size) : []
  const isShort = offsets?.some(({ path: name }) => name.endsWith('/stco')) ?? true
  return isShort ? sidecar : { kind: 'embedded', mimeType }
}

/** True if files of a container can hold a manifest. */
export function isEmbeddable(container: string): boolean {
  return container in EMBEDS
}

/** The type of a file that may hold credentials, by its container. */
export function readingType(container: string): string {
  return EMBEDS[container] ?? WHOLE_FILE
}
