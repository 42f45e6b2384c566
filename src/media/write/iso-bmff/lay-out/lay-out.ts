import { JobFailedError } from '../../../../core/errors.js'
import { type Box, childAt } from '../../../probe/movie/box.js'
import { writeChunkOffsets } from '../../../probe/movie/make-tables.js'
import type { BytePlan } from '../../byte-plan.js'
import { oldFacts, replaceOldFacts } from '../old-facts.js'
import type { DonorTrack } from '../read/donor-track.js'
import type { IsoFile } from '../read/iso-file.js'
import { type NewIsoTrack, newIsoTrack } from './new-iso-track.js'
import { replaceMovieHeader, replaceTables } from './new-tables.js'
import { fillOffsets, offsetTables } from './offset-tables.js'
import { OutputLayout } from './output-layout.js'
import type { OffsetTable, Replacements, Sheet } from './sheet.js'

/** Lays out a file in which donors supply the packets of some tracks. @param voices tracks of the movie, by donor */
export function layOutFile(file: IsoFile, voices: readonly number[], donors: readonly DonorTrack[]): BytePlan {
  const tracks = voices.map((voice, place) => {
    const old = file.oldTracks.get(voice)
    const donor = donors[place]
    if (!old || !donor) throw new RangeError(`Track ${voice} has no donor.`)
    return newIsoTrack(old, donor, file.movie.timeScale)
  })
  // If offsets need more than 32 bits, the index grows and everything moves again.
  for (const wide = new Set<Box>(); ; ) {
    const { plan, narrow } = layOutOnce(file, voices, tracks, wide)
    if (narrow.length === 0) return plan
    for (const box of narrow) {
      if (box.type !== 'stco' || wide.has(box))
        throw new JobFailedError(
          'ERR_OFFSETS',
          `The box ${box.type} at byte ${box.start} has no room for the new offsets.`,
        )
      wide.add(box)
    }
  }
}

/** The plan, with the boxes whose fields are too narrow for it. */
function layOutOnce(
  file: IsoFile,
  voices: readonly number[],
  tracks: readonly NewIsoTrack[],
  wide: ReadonlySet<Box>,
): { readonly plan: BytePlan; readonly narrow: readonly Box[] } {
  const replacements: Replacements = new Map()
  const own = tracks.flatMap((track, place) => ownTable(file, { track, place }, wide, replacements))
  replaceMovieHeader(file, voices, replacements)
  replaceOldFacts(oldFacts(file, voices), tracks, replacements)
  const tables = [...own, ...offsetTables(file, tracks, replacements, wide)]
  const layout = new OutputLayout(file, tracks, replacements)
  const sheet = layout.sheet()
  const narrow = fillOffsets(tables, sheet)
  return { plan: layout.plan(sheet), narrow }
}

/** The chunk offsets of a replaced track. */
function ownTable(
  file: IsoFile,
  { track, place }: { readonly track: NewIsoTrack; readonly place: number },
  wide: ReadonlySet<Box>,
  into: Replacements,
): readonly OffsetTable[] {
  const box = childAt(track.old.track.stbl, 'stco') ?? childAt(track.old.track.stbl, 'co64')
  const isWide = box !== undefined && (box.type === 'co64' || wide.has(box))
  const bytes = replaceTables(track, file.movie, isWide, into)
  if (!box || !bytes) return []
  const fill = ({ runStart }: Sheet) => {
    const filled = Float64Array.from(track.chunkPlaces, (chunk) => runStart(place, chunk))
    return writeChunkOffsets(bytes, filled)
  }
  return [{ box, fill }]
}
