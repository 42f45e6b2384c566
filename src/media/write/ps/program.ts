import { open } from 'node:fs/promises'
import { JobFailedError } from '../../../core/errors.js'
import { readAt } from '../../../core/read-at.js'
import type { MediaInfo } from '../../media-info.js'
import { type BytePiece, pieceLength } from '../byte-plan.js'
import { type CensusEntry, kept, rewritten, withGaps } from '../census.js'
import { FRAME_DONORS } from '../frames/elementary.js'
import { clockFault } from '../pes/clock-fault.js'
import { constantBytes, FRAME_HEAD_BYTES, FRAME_KINDS, type FrameKind } from '../pes/frame-kinds.js'
import type { SoundFrames } from '../pes/frame-splitter.js'
import { PCM_KINDS } from '../pes/pcm-kinds.js'
import { isPackedPcm, type PcmSound, packPcm, pcmDonor } from '../pes/pcm-units.js'
import { readDonorFrames } from '../pes/read-donor-frames.js'
import { takeBytes } from '../pes/take-bytes.js'
import { haveSameSizes, type MadeFrames } from '../pes/timed-frames.js'
import { unfitTrack } from '../pes/unfit-track.js'
import { type Replacement, withReplacements } from '../replacements.js'
import { programStream } from '../structure/program-packets.js'
import {
  type DonorFormat,
  declines,
  lateSamples,
  type Survey,
  UNKNOWN_TRACK,
  type Wanted,
  type WantedTrack,
  type Writer,
} from '../writer.js'
import { filledUpFrames, filledUpRate } from './filled-up-frames.js'
import { type ProgramFile, readProgram } from './program-file.js'
import type { ProgramSound } from './program-sound.js'

/** New frames, and the header of the first. */
interface ProgramDonor extends MadeFrames {
  readonly head: Buffer
}

/** Writes new frames into a program stream, in the places of old ones of the same size. Every other byte stays. */
export const programSound: Writer<ProgramFile, ProgramDonor> = {
  name: 'program',
  parse: async (media, signal) => {
    if (media.formatName !== 'mpeg') return null
    const kinds = new Map<number, FrameKind>()
    for (const stream of media.streams) {
      const { codec } = stream
      const kind = FRAME_KINDS[codec ?? ''] ?? PCM_KINDS[codec ?? '']?.frames
      if (stream.kind === 'audio' && kind && typeof stream.id === 'number') kinds.set(stream.id, kind)
    }
    return readProgram(media, kinds, signal)
  },
  survey,
  readDonor,
  layOut: ({ sizeBytes, sounds }, { tracks }, donors) => {
    const changed = tracks.map((track, donor) => {
      const sound = sounds.get(track.input.id ?? -1)
      const made = donors[donor]
      if (typeof sound !== 'object' || !made) throw new RangeError(`Track ${donor} has no sound.`)
      return { sound, frames: newFrames(sound, track, made, donor) }
    })
    return withReplacements(sizeBytes, () => changed.map(({ sound, frames }) => soundEdits(sound, frames())))
  },
}

async function readDonor(
  path: string,
  track: WantedTrack,
  signal: AbortSignal | undefined,
  file: ProgramFile,
): Promise<ProgramDonor> {
  const sound = file.sounds.get(track.input.id ?? -1)
  if (typeof sound === 'object' && isPackedPcm(track)) {
    return { ...(await packPcm(path, track, { ...file, sound: pcmOf(sound) }, signal)), head: Buffer.alloc(0) }
  }
  await using made = await open(path, 'r')
  return { ...(await readDonorFrames(path, track, signal)), head: await readAt(made, 0, FRAME_HEAD_BYTES) }
}

function pcmOf(sound: ProgramSound): PcmSound {
  const { startOf, placeOf } = sound.units
  return { ...sound, rangesOf: (unit) => [{ start: placeOf(unit), length: startOf(unit + 1) - startOf(unit) }] }
}

/** New frames with the sizes of the old ones. @throws {JobFailedError} ERR_ENCODER_OUTPUT */
function newFrames(
  { frames }: ProgramSound,
  { input, encoding }: WantedTrack,
  made: ProgramDonor,
  donor: number,
): () => Iterable<BytePiece> {
  const isWhole = made.count >= wantedFrames(frames)
  if (isWhole && haveSameSizes({ frames }, made)) {
    return () => [{ kind: 'donor', donor, start: 0, length: made.startOf(made.count) }]
  }
  const { bitRate } = encoding
  if (!isWhole || bitRate === null || !fitInto(frames, made)) {
    throw new JobFailedError('ERR_ENCODER_OUTPUT', 'The encoder wrote frames whose size does not match its bit rate.')
  }
  return () => filledUpFrames(frames, made, { donor, bitRate, sampleRate: input.sampleRate, head: made.head })
}

function fitInto(frames: SoundFrames, { startOf }: MadeFrames): boolean {
  for (let frame = 0; frame < frames.count; frame++) {
    const room = frames.startOf(frame + 1) - frames.startOf(frame)
    if (startOf(frame + 1) - startOf(frame) > room) return false
  }
  return true
}

/** The beginning of a frame that was cut off is replaced by that of a new one. */
function wantedFrames({ count, hasRest }: SoundFrames): number {
  return count + (hasRest ? 1 : 0)
}

function survey(file: ProgramFile, { media, tracks }: Wanted): Survey {
  const donors: DonorFormat[] = []
  for (const track of tracks) {
    const { input } = track
    const sound = file.sounds.get(input.id ?? -1) ?? `${input.codec} has no frames to replace`
    const [kind, donor] = [FRAME_KINDS[input.codec ?? ''], FRAME_DONORS[input.codec ?? '']]
    if (typeof sound === 'string') return declines(sound)
    if (isPackedPcm(track)) {
      const packed = pcmDonor(pcmOf(sound), track, media)
      if (typeof packed === 'string') return declines(packed)
      donors.push(packed)
      continue
    }
    if (!kind || !donor) return declines(UNKNOWN_TRACK)
    const reason = unfitFrames(sound, kind, track, media)
    if (reason !== undefined) return declines(reason)
    const { frames } = sound
    const lesserRate = hasSameFrames(frames, kind, track) ? undefined : filledUpRate(frames, track)
    donors.push({
      muxer: donor.muxer,
      options: lesserRate === undefined ? donor.options : [...donor.options, '-b:a', String(lesserRate)],
      skipSamples: lateSamples(media, input),
      sampleCount: wantedFrames(frames) * kind.samplesOf(frames.form),
      priming: 'trimmed' as const,
      ...(lesserRate !== undefined && { becomesOtherPackets: true as const }),
    })
  }
  const changed = new Set(tracks.map(({ input }) => programStream(input.id ?? -1)))
  return { kind: 'takes', census: censusOfProgram(file, changed), donors }
}

function unfitFrames(sound: ProgramSound, kind: FrameKind, track: WantedTrack, media: MediaInfo): string | undefined {
  const reason = unfitTrack(track, media)
  if (reason !== undefined) return reason
  if (!hasSameFrames(sound.frames, kind, track) && filledUpRate(sound.frames, track) === undefined) {
    return 'new frames may have other sizes than the old ones'
  }
  return clockFault(sound, track, media, kind.samplesOf(sound.frames.form))
}

/** True if all frames have one size, which is that of new frames. */
function hasSameFrames(frames: SoundFrames, kind: FrameKind, { input, encoding }: WantedTrack): boolean {
  const made = constantBytes(encoding.codec, encoding.bitRate, input.sampleRate, kind.samplesOf(frames.form))
  return made !== undefined && made === frames.bytesOfAll
}

const NEW_SOUND = 'packets of the new sound'
const NEW_AMONG_OTHERS = 'new sound in the places of the old; every other packet stays'

/** Lists the fate of a program stream: the first structure of each kind, and those between them as one. */
function censusOfProgram({ sizeBytes, firsts }: ProgramFile, changed: ReadonlySet<string>): readonly CensusEntry[] {
  const entries = firsts.map(({ path, start, length }) =>
    changed.has(path) ? rewritten(path, start, length, NEW_SOUND) : kept(path, start, length),
  )
  const others = (at: number, length: number) => rewritten('packets', at, length, NEW_AMONG_OTHERS)
  return [...withGaps(entries, [0, sizeBytes], others)]
}

/** New bytes behind the head of each packet. Those before the first whole frame stay. */
function* soundEdits({ units, frames }: ProgramSound, made: Iterable<BytePiece>): Generator<Replacement> {
  const first = frames.startOf(0)
  const pieces = new PieceReader(made)
  for (let unit = 0; unit < units.count; unit++) {
    const [start, end] = [units.startOf(unit), units.startOf(unit + 1)]
    const lead = Math.min(end, Math.max(start, first)) - start
    const place = units.placeOf(unit) + lead
    const length = end - start - lead
    if (length > 0) yield { start: place, end: place + length, pieces: pieces.take(length) }
  }
}

/** Reads pieces that are made while they are read. */
class PieceReader {
  readonly #source: Iterator<BytePiece>
  readonly #waiting: BytePiece[] = []
  #bytes = 0

  constructor(pieces: Iterable<BytePiece>) {
    this.#source = pieces[Symbol.iterator]()
  }

  take(length: number): readonly BytePiece[] {
    while (this.#bytes < length) {
      const { value, done } = this.#source.next()
      if (done) throw new RangeError('The new frames are too short.')
      this.#waiting.push(value)
      this.#bytes += pieceLength(value)
    }
    this.#bytes -= length
    return takeBytes(this.#waiting, length)
  }
}
