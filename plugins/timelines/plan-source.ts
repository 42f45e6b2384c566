import { randomUUID } from 'node:crypto'
import { UsageError } from '../../src/core/errors.js'
import { formatTime } from '../../src/core/time.js'
import type { MediaInfo, SampleRange } from '../../src/media/index.js'
import { type PlanRequest, planMedia } from '../../src/pipeline/plan/plan-job.js'
import { withPrice } from '../../src/pipeline/plan/price.js'
import { mergeRanges, type Segment } from '../../src/pipeline/plan/segments.js'
import { segmentsEndSec } from '../../src/pipeline/plan/segments-end.js'
import { isDropFrame, startTimecodeOf } from '../../src/pipeline/plan/timecode.js'
import type { Limits } from '../../src/precheck/index.js'
import { type EarlierRanges, earlierRanges } from './earlier-ranges.js'
import type { NoteTaker } from './note-taker.js'
import type { TimelineOutputs } from './outputs.js'
import { mediaOrigin, onLabels, rangeSampleRate } from './time/media-clock.js'
import { type Rational, ZERO } from './time/rational.js'
import type { TimeRange } from './time/time-range.js'
import type { ClipUse, TimelineSource } from './timeline.js'
import type { PlannedSource, TimelineRequest } from './timeline-plan.js'
import { beyondUsed, growUsed, type SampleGrid, sampleRangeOf, totalSamples } from './used-ranges.js'

/** A file that was found, and what the timeline calls it. */
export interface SourceMedia {
  readonly media: MediaInfo
  readonly sources: readonly TimelineSource[]
  /** The output that the timeline plays in its place, if it does. */
  readonly made: string | undefined
}

interface SourceContext {
  readonly request: TimelineRequest
  readonly limits: Limits
  /** Frame rate of the timeline, if it is known. */
  readonly rate: Rational | null
  readonly notes: NoteTaker
  readonly outputs: TimelineOutputs
  readonly signal: AbortSignal | undefined
}

/**
 * Plans the job of one file. Its segments are the parts that the clips use, in samples, and those that an earlier cut
 * regenerated. A range without a clock counts by the file's own timecode, or from its start if that fits.
 *
 * @returns undefined if nothing of the file is regenerated; a note says why
 */
export async function planSource(
  source: SourceMedia,
  uses: readonly ClipUse[],
  context: SourceContext,
): Promise<PlannedSource | undefined> {
  const { media } = source
  const { request, limits, signal } = context
  try {
    return await planUses(source, uses, media.durationSec, context)
  } catch (error) {
    if (!(error instanceof UsageError) || error.code !== 'ERR_SEGMENT_OUTSIDE') throw error
    // A clip plays only picture: the sound of the file ends before it. Headers seldom tell, and reading it takes long.
    return planUses(source, uses, await segmentsEndSec(media, request.settings, limits, signal), context)
  }
}

/** @param endSec of the parts that can be regenerated; null if it is unknown */
async function planUses(
  { media, sources, made }: SourceMedia,
  uses: readonly ClipUse[],
  endSec: number | null,
  { request, limits, rate, notes, outputs, signal }: SourceContext,
): Promise<PlannedSource | undefined> {
  const sampleRate = rangeSampleRate(media)
  const name = sources[0]?.name ?? media.path
  if (!uses.some(({ sourceId }) => sources.some(({ id }) => id === sourceId))) return undefined
  if (sampleRate === null) {
    notes.add('no-sound', name, 'has no sound: left as it is')
    return undefined
  }
  const samplesTo = (sec: number | null) => (sec === null ? null : Math.round(sec * sampleRate))
  const sampleCount = samplesTo(media.durationSec)
  const inside = sources.flatMap((source) => {
    const own = uses.filter(({ sourceId }) => sourceId === source.id)
    return usesOfSource(source, own, media, { sampleRate, sampleCount: samplesTo(endSec), rate, name, notes })
  })
  const used = mergeRanges(inside.map(({ range }) => range))
  if (used.length === 0) return undefined
  const handleSamples = Math.round(request.settings.recipe.segments.handleSec * sampleRate)
  // Sound between ranges whose handles meet is sent either way, and need not be paid for twice.
  const wanted = growUsed(used, Math.round(request.trimSec * sampleRate), sampleCount)
  const merged = mergeRanges(wanted, 2 * handleSamples)
  const planOf = async (ranges: readonly SampleRange[], supersede: boolean) => {
    const segments = ranges.map((range) => segmentOf(range, sampleRate, sampleCount))
    const output = outputs.mediaOutput(media.path) ?? made
    const own = jobRequest(media, request, segments, { output, supersede })
    return { request: own, job: await planMedia(media, own, limits) }
  }
  const alone = await planOf(merged, false)
  const earlier = await earlierRanges(alone.job, request.settings, sampleRate)
  noteEarlier(earlier, name, sampleRate, notes)
  const { regenerated, sent, supersede } = withEarlier(merged, earlier, 2 * handleSamples)
  const whole = earlier.kind === 'none' ? alone : await planOf(regenerated, supersede)
  const priceOf = async () => withPrice((sent === regenerated ? whole : await planOf(sent, supersede)).job, signal)
  const { paidSec, sendBytes } = sent.length === 0 ? { paidSec: 0, sendBytes: 0 } : await priceOf()
  return {
    ...whole,
    media,
    used,
    regenerated,
    sampleRate,
    paidSec,
    sendBytes,
    usedSec: totalSamples(used) / sampleRate,
    sourceIds: sources.map(({ id }) => id),
    uses: inside.map(({ use }) => use),
  }
}

interface SourceFacts extends Omit<SampleGrid, 'origin'>, Pick<SourceContext, 'rate' | 'notes'> {
  readonly name: string
}

function usesOfSource(
  source: TimelineSource,
  uses: readonly ClipUse[],
  media: MediaInfo,
  { rate, name, notes, ...clock }: SourceFacts,
) {
  const origins = source.origin ? [source.origin] : [mediaOrigin(media, rate), ZERO]
  const grids = origins.map((origin): SampleGrid => ({ origin, ...clock }))
  const written = uses.map(({ range }) => range)
  const labelled = uses.map(({ range, dropFrame }) => onLabels(range, dropFrame, media, rate))
  if (labelled.some(({ start }, index) => start !== written[index]?.start))
    notes.add('frame-rate', name, 'and the list do not both use drop frame: check the parts that it plays')
  // Programs mark no drop frame, or write the frames of a recording without it as if it had drop frame.
  const isUnmarked = isDropFrame(startTimecodeOf(media) ?? '')
  return usesInside(uses, isUnmarked ? [labelled, written] : [written, labelled], grids, { name, notes })
}

/** The uses of a source that lie inside its file, by the readings and the grid that lay the most of them there. */
function usesInside(
  uses: readonly ClipUse[],
  readings: readonly (readonly TimeRange[])[],
  grids: readonly SampleGrid[],
  { name, notes }: { readonly name: string; readonly notes: NoteTaker },
) {
  const ranges = bestOf(
    readings.flatMap((read) => grids.map((grid) => read.map((range) => sampleRangeOf(range, grid)))),
  )
  return uses.flatMap((use, index) => {
    const range = ranges[index]
    if (!range) notes.add('outside', use.clip, `plays a part that ${name} does not have: its sound is left as it is`)
    return range ? [{ use, range }] : []
  })
}

function noteEarlier(earlier: EarlierRanges, name: string, sampleRate: number, notes: NoteTaker): void {
  if (earlier.kind === 'none') return
  const time = formatTime(totalSamples(earlier.ranges) / sampleRate)
  if (earlier.kind === 'kept') {
    const when = 'sent again only if the cache no longer has it'
    notes.add('kept', name, `keeps ${time}, which an earlier cut regenerated: ${when}`)
    return
  }
  notes.add('again', name, `regenerates ${time} of an earlier cut again, with these settings`)
  if (earlier.lost.length > 0)
    notes.add('undone', name, `loses what an earlier cut regenerated in ${earlier.lost.join(' and ')}`)
}

/**
 * Adds what earlier cuts regenerated, so that nothing of it is lost. Ranges within `gapSamples` become one.
 *
 * @returns all ranges, in order, and those of them that are not in the cache. `supersede` permits to replace the output of
 *   the earlier cut.
 */
function withEarlier(wanted: readonly SampleRange[], earlier: EarlierRanges, gapSamples: number) {
  switch (earlier.kind) {
    case 'none':
      return { regenerated: wanted, sent: wanted, supersede: false }
    case 'kept': {
      const sent = beyondUsed(wanted, earlier.ranges)
      const regenerated = [...earlier.ranges, ...sent].sort((a, b) => a.startSample - b.startSample)
      return { regenerated, sent, supersede: true }
    }
    case 'again': {
      const regenerated = mergeRanges([...wanted, ...earlier.ranges], gapSamples)
      return { regenerated, sent: regenerated, supersede: false }
    }
    default:
      return earlier satisfies never
  }
}

function jobRequest(
  media: MediaInfo,
  { cwd, settings }: TimelineRequest,
  segments: readonly Segment[],
  { output, supersede }: { readonly output: string | undefined; readonly supersede: boolean },
): PlanRequest {
  return {
    provisionalId: randomUUID(),
    input: media.path,
    output,
    cwd,
    group: 'timeline',
    settings: { ...settings, segments },
    remote: false,
    supersede,
  }
}

/** Seconds that give back exactly these samples. */
function segmentOf({ startSample, endSample }: SampleRange, sampleRate: number, sampleCount: number | null): Segment {
  const reachesEnd = sampleCount !== null && endSample >= sampleCount
  return { startSec: startSample / sampleRate, endSec: reachesEnd ? null : endSample / sampleRate }
}

/** The first of the readings that lays the most ranges inside the file. */
function bestOf<T>(readings: readonly (readonly (T | undefined)[])[]): readonly (T | undefined)[] {
  const inside = readings.map((ranges) => ranges.filter((range) => range !== undefined).length)
  return readings[inside.indexOf(Math.max(...inside))] ?? []
}
