import { z } from 'zod'
import type { FileFacts } from '../candidates/file-facts.js'

const takenFileSchema = z.object({
  path: z.string(),
  sizeBytes: z.number(),
  /** Decimal, because JSON has no integers of this size. */
  mtimeNs: z.string(),
  contentId: z.string(),
})

/** The file that a job was made for. */
export interface TakenFile {
  /** Within the watched folder. */
  readonly path: string
  readonly sizeBytes: number
  readonly mtimeNs: bigint
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

/** True while the file is the one that was taken, by the facts of the file system. */
export function isStill(taken: TakenFile, facts: FileFacts): boolean {
  return taken.sizeBytes === facts.sizeBytes && taken.mtimeNs === facts.mtimeNs
}
