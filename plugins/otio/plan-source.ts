import { randomUUID } from 'node:crypto'
import { type Limits, type MediaInfo, type PlanRequest, planMedia, type Segment } from 'voxmux'
import { mediaOrigin, rangeSampleRate } from './media-clock.js'
import type { NoteTaker } from './note-taker.js'
import type { TimelineOutputs } from './outputs.js'
import { type Rational, ZERO } from './rational.js'
import type { ClipUse, TimelineSource } from './timeline.js'
import type { PlannedSource, TimelineRequest } from './timeline-plan.js'
import { countSamples, growUsed, type LaidOn, mergeUsed, samplesOf, type UsedRange } from './used-ranges.js'

/** A file that was found, and what the timeline calls it. */
export interface SourceMedia {
  readonly media: MediaInfo
  readonly sources: readonly TimelineSource[]
}

export interface SourceContext {
  readonly request: TimelineRequest
  readonly limits: Limits
  /** Of the timeline, where it is known. */
  readonly rate: Rational | null
  readonly notes: NoteTaker
  readonly outputs: TimelineOutputs
}

/**
 * Plans the job of one file: what the clips use of it, in samples, as segments. A range given without a clock is laid
 * on the file's own timecode, or from its start where that is what fits.
 *
 * @returns undefined where nothing of it is to be regenerated; a note says why
 */
export async function planSource(
  { media, sources }: SourceMedia,
  uses: readonly ClipUse[],
  { request, limits, rate, notes, outputs }: SourceContext,
): Promise<PlannedSource | undefined> {
  const sampleRate = rangeSampleRate(media)
  const name = sources[0]?.name ?? media.path
  const own = sources.map((source) => ({ source, uses: uses.filter(({ sourceId }) => sourceId === source.id) }))
  if (own.every((one) => one.uses.length === 0)) return undefined
  if (sampleRate === null) {
    notes.add('no-sound', name, 'has no sound: left as it is')
    return undefined
  }
  const sampleCount = media.durationSec === null ? null : Math.round(media.durationSec * sampleRate)
  const lay = (origin: Rational): LaidOn => ({ origin, sampleRate, sampleCount })
  const used = mergeUsed(
    own.flatMap(({ source, uses }) => {
      const origins = source.origin ? [source.origin] : [mediaOrigin(media, rate), ZERO]
      const ranges = bestOf(origins.map((origin) => uses.map(({ range }) => samplesOf(range, lay(origin)))))
      for (const [index, { clip }] of uses.entries())
        if (!ranges[index]) notes.add('outside', clip, `plays a part that ${name} does not have: left as it is`)
      return ranges.filter((range) => range !== undefined)
    }),
  )
  if (used.length === 0) return undefined
  const handleSamples = Math.round(request.settings.recipe.segments.handleSec * sampleRate)
  // What lies between ranges whose handles meet is sent either way: it need not be paid for twice.
  const wanted = growUsed(used, Math.round(request.trimSec * sampleRate), sampleCount)
  const regenerated = mergeUsed(wanted, 2 * handleSamples)
  const segments = regenerated.map((range) => segmentOf(range, sampleRate, sampleCount))
  const ownRequest = jobRequest(media, request, segments, outputs)
  const job = await planMedia(media, ownRequest, limits)
  return {
    ...{ media, used, regenerated, sampleRate, job, request: ownRequest },
    usedSec: countSamples(used) / sampleRate,
    sourceIds: sources.map(({ id }) => id),
  }
}

function jobRequest(
  media: MediaInfo,
  { cwd, settings }: TimelineRequest,
  segments: readonly Segment[],
  outputs: TimelineOutputs,
): PlanRequest {
  return {
    provisionalId: randomUUID(),
    input: media.path,
    output: outputs.mediaOutput(media.path),
    cwd,
    group: 'timeline',
    settings: { ...settings, segments },
    remote: false,
  }
}

/** Seconds that give back exactly these samples. */
function segmentOf({ startSample, endSample }: UsedRange, sampleRate: number, sampleCount: number | null): Segment {
  const reachesEnd = sampleCount !== null && endSample >= sampleCount
  return { startSec: startSample / sampleRate, endSec: reachesEnd ? null : endSample / sampleRate }
}

/** The first of the readings that lays the most ranges inside the file. */
function bestOf<T>(readings: readonly (readonly (T | undefined)[])[]): readonly (T | undefined)[] {
  const inside = readings.map((ranges) => ranges.filter((range) => range !== undefined).length)
  return readings[inside.indexOf(Math.max(...inside))] ?? []
}
