import type { BytePlan } from './byte-plan.js'
import type { Census } from './census.js'
import type { DonorFormat, WriterName } from './writer.js'

/** A writer that did not accept a file, with its reason. */
export interface Declined {
  readonly writer: WriterName
  readonly reason: string
}

/** Kind of writing: the input's own bytes with new audio, or a new file by ffmpeg. */
export type Writing =
  | {
      readonly kind: 'bytes'
      readonly writer: WriterName
      readonly census: Census
      /** By place among the replaced tracks. */
      readonly donors: readonly DonorFormat[]
      /** Lays the output out. Paths of the side files by place among the replaced tracks. */
      readonly layOut: (donorPaths: readonly string[], signal: AbortSignal | undefined) => Promise<BytePlan>
      readonly declined: readonly Declined[]
    }
  | { readonly kind: 'remux'; readonly declined: readonly Declined[] }

/** Facts about the writing in plans, receipts and reports. */
export interface WritingFacts {
  readonly writer: WriterName
  readonly declined: readonly Declined[]
  /** Null if ffmpeg writes a new file, which keeps only streams by construction. */
  readonly census: Census | null
}

/** The part of a plan's writing that is data. */
export function writingFacts({ writing }: { readonly writing: Writing }): WritingFacts {
  const { declined } = writing
  return writing.kind === 'remux'
    ? { writer: 'remux', declined, census: null }
    : { writer: writing.writer, declined, census: writing.census }
}
