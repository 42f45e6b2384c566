import type { BytePlan } from './byte-plan.js'
import { type Census, listCensus } from './census.js'
import type { LevelFields } from './level/level-field.js'
import type { SpliceableTrack } from './splice/old-packets.js'
import type { DonorSource } from './splice/spliced-packets.js'
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
      /** Streams that the output lacks, by their index in the input. */
      readonly lostStreams?: ReadonlySet<number> | undefined
      /** Statements about the level of the first replaced track, which are renewed once the output is written. */
      readonly levels: LevelFields
      /** By place among the replaced tracks. */
      readonly donors: readonly DonorFormat[]
      /** Lists the packets of a replaced track, so that some of them can stay; or the reason why none can. */
      readonly splice: (place: number) => Promise<SpliceableTrack<unknown> | string>
      /** Lays the output out. Donors by place among the replaced tracks; pieces refer to side files. */
      readonly layOut: (donors: readonly DonorSource[], signal: AbortSignal | undefined) => Promise<BytePlan>
      readonly declined: readonly Declined[]
    }
  | { readonly kind: 'remux'; readonly declined: readonly Declined[]; readonly census: Census | null }

/**
 * The part of a plan's writing that is data, for plans, receipts and reports. The census is null if ffmpeg writes a new
 * file from one of a family whose structures voxmux does not list.
 */
export function writingFacts({ writing }: { readonly writing: Writing }) {
  const { declined, census } = writing
  const writer: WriterName = writing.kind === 'remux' ? 'remux' : writing.writer
  return { writer, declined, census: census && listCensus(census) }
}
