import { JobFailedError } from '../../core/errors.js'
import type { AudioStreamInfo, MediaInfo } from '../media-info.js'
import { MalformedFile, malformedReason } from '../probe/malformed-file.js'
import { type BytePlan, offsetMap } from './byte-plan.js'
import { type Census, censusFaults } from './census.js'
import { donorFault } from './prove-donor.js'
import type { SpliceableTrack } from './splice/old-packets.js'
import { unspliceable } from './splice/same-coding.js'
import { type DonorSource, resolveDonors } from './splice/spliced-packets.js'
import { withSameSetUp } from './splice/vorbis-setting.js'
import { type DonorFormat, declines, type Survey, type Wanted, type Writer } from './writer.js'
import type { Declined, Writing } from './writing.js'

export type TakenWriting = Writing & { readonly kind: 'bytes' }

/** A writer that would take a file if some of its tracks had another codec. */
interface Untaken extends Declined {
  readonly tracks: ReadonlySet<AudioStreamInfo>
}

/** Asks a writer for a plan. */
export type PlanWithWriter = (
  wanted: Wanted,
  signal: AbortSignal | undefined,
) => Promise<TakenWriting | Untaken | Declined | null>

/** Some structures are only read by the survey: offsets of other tracks, for example. */
function surveyOf<Parsed, Donor>({ survey }: Writer<Parsed, Donor>, parsed: Parsed, wanted: Wanted): Survey {
  try {
    return survey(parsed, wanted)
  } catch (error) {
    return declines(malformedReason(error))
  }
}

/** Hides the types of a writer's structure and packets. */
export function planWith<Parsed, Donor>(writer: Writer<Parsed, Donor>): PlanWithWriter {
  const readDonor: typeof writer.readDonor = (...donor) =>
    writer.readDonor(...donor).catch((error: unknown) => {
      if (!(error instanceof MalformedFile)) throw error
      throw new JobFailedError('ERR_ENCODER_OUTPUT', `voxmux cannot use the encoded voice: ${error.message}.`)
    })
  return async (wanted, signal) => {
    const parsed = await writer.parse(wanted.media, signal).catch(malformedReason)
    if (parsed === null) return null
    if (typeof parsed === 'string') return { writer: writer.name, reason: parsed }
    const survey = surveyOf(writer, parsed, wanted)
    if (survey.kind === 'declines') return { writer: writer.name, reason: survey.reason }
    const { census, donors, lostStreams, levels = [] } = survey
    const [fault] = censusFaults(census, wanted.media.sizeBytes)
    if (fault) {
      return {
        writer: writer.name,
        reason: `its structure has a ${fault.kind} of ${fault.length} bytes at ${fault.start}`,
      }
    }
    const untaken = new Map<AudioStreamInfo, string>()
    for (const [place, track] of wanted.tracks.entries()) {
      const read = (path: string) => readDonor(path, track, signal, parsed)
      const fault = await donorFault(track, donors[place] as DonorFormat, read, signal)
      if (fault !== null) untaken.set(track.input, fault)
    }
    const [reason] = untaken.values()
    if (reason !== undefined) return { writer: writer.name, reason, tracks: new Set(untaken.keys()) }
    const layOut = async (sources: readonly DonorSource[], stop: AbortSignal | undefined) => {
      const read: Donor[] = []
      for (const [place, track] of wanted.tracks.entries()) {
        const source = sources[place]
        // The same writer made the track.
        if (source?.kind === 'spliced') read.push((source.track as SpliceableTrack<Donor>).donorOf(source.packets))
        else read.push(await readDonor(source?.path ?? '', track, stop, parsed))
      }
      return resolveDonors(checked(writer.layOut(parsed, wanted, read), census, wanted.media), sources)
    }
    const splice = async (place: number) => {
      const track = wanted.tracks[place]
      const reason = track && unspliceable(track)
      const found = reason ?? (await writer.splice?.(parsed, wanted, place)) ?? 'its container has no separate packets'
      return typeof found === 'string' || !track ? found : withSameSetUp(found, track, signal)
    }
    return { kind: 'bytes', writer: writer.name, census, lostStreams, levels, donors, splice, layOut, declined: [] }
  }
}

/** Checks that a layout keeps every structure that the census calls kept. */
function checked(plan: BytePlan, census: Census, media: MediaInfo): BytePlan {
  const map = offsetMap(plan)
  for (const { path, fate, start, length } of census) {
    if (fate !== 'kept' || length === 0 || map.keeps(start, length)) continue
    throw new JobFailedError('ERR_CENSUS_BROKEN', `The layout of the output does not keep ${path}.`, {
      input: media.path,
      remedies: ['This is a bug in voxmux. Report it with the name of the structure.'],
    })
  }
  return plan
}
