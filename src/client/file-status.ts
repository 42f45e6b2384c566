import { z } from 'zod'
import {
  type FileErrorCode,
  type FileProcessingStatus,
  PROCESSING_STATES,
  processingStateSchema,
} from '../contract/index.js'

/** A status as the service sent it. `errorCode` may be unknown to the interface. */
export interface FileStatus extends Omit<FileProcessingStatus, 'errorCode'> {
  errorCode: FileErrorCode | number
}

/** Accepts a number or its text. Anything else counts as absent. */
const looseNumber = z.union([z.number(), z.string().trim().min(1).pipe(z.coerce.number())]).catch(Number.NaN)

const entrySchema = z.object({
  id: z.string(),
  status: z.string().catch(''),
  errorCode: looseNumber,
  progress: looseNumber,
})

/** The state with these letters: a service that spells one `SUCCEEDED` or `in_progress` must not be waited for in vain. */
function spelledState(text: string): string {
  const letters = text.toLowerCase().replace(/[^a-z]/g, '')
  return PROCESSING_STATES.find((state) => state.toLowerCase() === letters) ?? text
}

/** The list in a getFilesStatus response. {@link readFileStatus} checks each entry on its own. */
export const statusListSchema = z.array(z.unknown())

/**
 * Reads one entry of a getFilesStatus response. Ignores unknown fields and clamps progress to 0 … 100. An unknown state
 * means "in progress", or "failed" if it has a negative code.
 *
 * @returns undefined if the entry names no file
 */
function readFileStatus(entry: unknown): FileStatus | undefined {
  const parsed = entrySchema.safeParse(entry)
  if (!parsed.success) return undefined
  const { id, status: state, progress: percent } = parsed.data
  const errorCode = Number.isInteger(parsed.data.errorCode) ? parsed.data.errorCode : 0
  const known = processingStateSchema.safeParse(spelledState(state))
  const status = known.success ? known.data : errorCode < 0 ? 'Failed' : 'InProgress'
  const unknownProgress = status === 'Succeeded' ? 100 : 0
  const progress = Number.isFinite(percent) ? Math.min(100, Math.max(0, percent)) : unknownProgress
  return { id, status, errorCode, progress }
}

/** Databases print a UUID in either case. In ids of other kinds, the case counts. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Finds each file's entry in a response, in the order of the ids. @returns undefined if a file has no readable entry */
export function statusesOf(answer: readonly unknown[], ids: readonly string[]): (FileStatus | undefined)[] {
  const keyOf = (id: string) => (UUID.test(id) ? id.toLowerCase() : id)
  const byKey = new Map<string, FileStatus>()
  for (const entry of answer.map(readFileStatus)) if (entry) byKey.set(keyOf(entry.id), entry)
  return ids.map((id) => {
    const entry = byKey.get(keyOf(id))
    return entry && { ...entry, id }
  })
}
