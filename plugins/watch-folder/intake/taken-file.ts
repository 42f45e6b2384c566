import { z } from 'zod'
import type { FileFacts } from '../candidates/file-facts.js'

const takenFileSchema = z.object({
  path: z.string(),
  sizeBytes: z.number(),
  /** Decimal, because JSON has no integers of this size. */
  mtimeNs: z.string(),
  contentId: z.string(),
})

/** A file as it was when it was read. */
export type ReadFile = Pick<FileFacts, 'sizeBytes' | 'mtimeNs'>

/** The file that a job was made for. */
export interface TakenFile extends ReadFile {
  /** Within the watched folder. */
  readonly path: string
  /** See `contentId`. */
  readonly contentId: string
}

/** Plain JSON for the `data` of a queued file. */
export function takenData({ path, sizeBytes, mtimeNs, contentId }: TakenFile): Readonly<Record<string, unknown>> {
  return { path, sizeBytes, mtimeNs: String(mtimeNs), contentId }
}

/** Reads it back; null for a job that no watch folder queued. */
export function takenFileOf(data: Readonly<Record<string, unknown>>): TakenFile | null {
  const read = takenFileSchema.safeParse(data)
  return read.success ? { ...read.data, mtimeNs: BigInt(read.data.mtimeNs) } : null
}

/** True while the file is the one that was read, by the facts of the file system. */
export function isStill(read: ReadFile, facts: ReadFile): boolean {
  return read.sizeBytes === facts.sizeBytes && read.mtimeNs === facts.mtimeNs
}
