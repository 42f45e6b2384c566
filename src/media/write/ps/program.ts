import { JobFailedError } from '../../../core/errors.js'
import type { MediaInfo } from '../../media-info.js'
import type { BytePiece } from '../byte-plan.js'
import { type CensusEntry, kept, rewritten } from '../census.js'
import { type Edit, withEdits } from '../edits.js'
import { FRAME_DONORS } from '../frames/elementary.js'
import { programStream } from '../structure/program-packets.js'
import { clockFault } from '../ts/clock-fault.js'
import { constantBytes, FRAME_KINDS, type FrameKind } from '../ts/frame-kinds.js'
import { readDonorFrames } from '../ts/read-donor-frames.js'
import { haveSameSizes, type MadeFrames } from '../ts/unit-shares.js'
import {
  declines,
  lateSamples,
  type Survey,
  UNKNOWN_TRACK,
  type Wanted,
  type WantedTrack,
  type Writer,
} from '../writer.js'
import { type ProgramFile, readProgram } from './program-file.js'
import type { ProgramSound } from './program-sound.js'

/** Writes new frames into a program stream, in the places of old ones of the same size. Every other byte stays. */
export const programSound: Writer<ProgramFile, MadeFrames> = {
  name: 'program',
  parse: async (media, signal) => {
    if (media.formatName !== 'mpeg') return null
    const kinds = new Map<number, FrameKind>()
    for (const stream of media.streams) {
      const kind = stream.kind === 'audio' ? FRAME_KINDS[stream.codec ?? ''] : undefined
      if (kind && typeof stream.id === 'number') kinds.set(stream.id, kind)
    }
    return readProgram(media, kinds, signal)
  },
  survey,
  readDonor: readDonorFrames,
  layOut: ({ sizeBytes, sounds }, { tracks }, donors) => {
    const changed = tracks.map((track, donor) => {
      const sound = sounds.get(track.input.id ?? -1)
      const made = donors[donor]
      if (typeof sound !== 'object' || !made) throw new RangeError(`Track ${donor} has no sound.`)
      if (haveSameSizes(sound, made)) return { sound, donor }
      throw new JobFailedError(
        'ERR_ENCODER_OUTPUT',
        'The encoder wrote frames of another size than its bit rate gives.',
      )
    })
    return withEdits(sizeBytes, () => changed.map(({ sound, donor }) => soundEdits(sound, donor)))
  },
}

function survey(file: ProgramFile, { media, tracks }: Wanted): Survey {
  const donors = []
  for (const track of tracks) {
    const { input } = track
    const sound = file.sounds.get(input.id ?? -1) ?? `${input.codec} has no frames to replace`
    const [kind, donor] = [FRAME_KINDS[input.codec ?? ''], FRAME_DONORS[input.codec ?? '']]
    if (typeof sound === 'string') return declines(sound)
    if (!kind || !donor) return declines(UNKNOWN_TRACK)
    const reason = unfitFrames(sound, kind, track, media)
    if (reason !== undefined) return declines(reason)
    const { count, form, hasRest } = sound.frames
    donors.push({
      ...donor,
      skipSamples: lateSamples(media, input),
      // The beginning of a frame that was cut off is replaced by that of a new one.
      sampleCount: (count + (hasRest ? 1 : 0)) * kind.samplesOf(form),
      leadIn: 'trimmed' as const,
    })
  }
  const changed = new Set(tracks.map(({ input }) => programStream(input.id ?? -1)))
  return { kind: 'takes', census: censusOfProgram(file, changed), donors }
}

function unfitFrames(sound: ProgramSound, kind: FrameKind, track: WantedTrack, media: MediaInfo): string | undefined {
  const { input, encoding, channels } = track
  if (encoding.codec !== input.codec) return `its audio is ${input.codec}, and becomes ${encoding.codec}`
  if (channels !== input.channels) return 'the track gets another number of channels'
  if (media.streams.filter(({ id }) => id === input.id).length !== 1) return 'several streams have the same packets'
  const samples = kind.samplesOf(sound.frames.form)
  const made = constantBytes(encoding.codec, encoding.bitRate, input.sampleRate, samples)
  if (made === undefined || made !== sound.frames.bytesOfAll) return 'new frames may have other sizes than the old ones'
  return clockFault(sound, track, media, samples)
}

const NEW_SOUND = 'packets of the new sound'
const NEW_AMONG_OTHERS = 'new sound in the places of the old; every other packet stays'

/** Lists the fate of a program stream: the first structure of each kind, and those between them as one. */
function censusOfProgram({ sizeBytes, firsts }: ProgramFile, changed: ReadonlySet<string>): readonly CensusEntry[] {
  const entries: CensusEntry[] = []
  let at = 0
  const fillUntil = (next: number) => {
    if (next > at) entries.push(rewritten('packets', at, next - at, NEW_AMONG_OTHERS))
  }
  for (const { path, start, length } of firsts) {
    fillUntil(start)
    entries.push(changed.has(path) ? rewritten(path, start, length, NEW_SOUND) : kept(path, start, length))
    at = start + length
  }
  fillUntil(sizeBytes)
  return entries
}

/** New bytes behind the head of each packet. Those before the first whole frame stay. */
function* soundEdits({ units, frames }: ProgramSound, donor: number): Generator<Edit> {
  const first = frames.startOf(0)
  for (let unit = 0; unit < units.count; unit++) {
    const [start, end] = [units.startOf(unit), units.startOf(unit + 1)]
    const lead = Math.min(end, Math.max(start, first)) - start
    const place = units.placeOf(unit) + lead
    const length = end - start - lead
    const piece: BytePiece = { kind: 'donor', donor, start: start + lead - first, length }
    if (length > 0) yield { start: place, end: place + length, pieces: [piece] }
  }
}
