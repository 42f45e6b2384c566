import type { MediaInfo } from '../../media-info.js'
import { type CensusEntry, kept, rewritten, withGaps } from '../census.js'
import { FRAME_DONORS } from '../frames/elementary.js'
import { FRAME_KINDS } from '../pes/frame-kinds.js'
import { type FramePlaces, framePlaces, placeFrames } from '../pes/frame-places.js'
import { PCM_KINDS } from '../pes/pcm-kinds.js'
import { isPackedPcm, type PcmSound, packPcm, pcmDonor } from '../pes/pcm-units.js'
import { readDonorFrames } from '../pes/read-donor-frames.js'
import type { MadeFrames } from '../pes/timed-frames.js'
import { PLAIN_BYTES, pidName } from '../structure/transport-pids.js'
import {
  type DonorFormat,
  declines,
  lateSamples,
  type Survey,
  type Wanted,
  type WantedTrack,
  type Writer,
} from '../writer.js'
import { layOutTransport } from './lay-out-transport.js'
import type { SoundKind, TransportSound } from './sound-packets.js'
import { rangesIn, spliceableSound } from './splice-sound.js'
import { readTransport, type TransportFile } from './transport-file.js'
import { unfitSound } from './unfit-sound.js'

/** Writes new sound into a transport stream: packets of other PIDs stay, and so do their places and clocks. */
export const transportSound: Writer<TransportFile, MadeFrames> = {
  name: 'transport',
  parse: async (media, signal) => {
    if (media.formatName !== 'mpegts') return null
    const kinds = new Map<number, SoundKind>()
    for (const stream of media.streams) {
      if (stream.kind !== 'audio' || typeof stream.id !== 'number') continue
      const frames = FRAME_KINDS[stream.codec ?? ''] ?? PCM_KINDS[stream.codec ?? '']?.frames
      if (frames) kinds.set(stream.id, { frames, channels: stream.channels })
    }
    return readTransport(media.path, media.sizeBytes, kinds, signal)
  },
  survey,
  readDonor: async (path, track, signal, file) => {
    const sound = soundOf(file, track)
    if (isPackedPcm(track)) return packPcm(path, track, { ...file, sound: pcmOf(file, sound) }, signal)
    const made = await readDonorFrames(path, track, signal)
    const places = sound.isBroken ? placesOf(sound, track) : null
    return places ? placeFrames(path, made, sound, places, signal) : made
  },
  splice: async (file, wanted, place) => {
    const track = wanted.tracks[place] as WantedTrack
    return spliceableSound(file, soundOf(file, track), wanted, track)
  },
  layOut: (file, { tracks }, donors) =>
    layOutTransport(
      file,
      tracks.map((track, donor) => {
        const made = donors[donor]
        if (!made) throw new RangeError(`Track ${donor} has no donor.`)
        return { pid: pidOf(track), sound: soundOf(file, track), made, donor }
      }),
    ),
}

/** The packets of a track that the survey took. */
function soundOf({ sounds }: TransportFile, track: WantedTrack): TransportSound {
  const sound = sounds.get(pidOf(track))
  if (typeof sound !== 'object') throw new RangeError(`PID ${pidOf(track)} has no sound.`)
  return sound
}

/** The places of frames among those that are missing. */
function placesOf(sound: TransportSound, track: WantedTrack): FramePlaces | null {
  return framePlaces(sound, track, FRAME_KINDS[track.input.codec ?? '']?.samplesOf(sound.frames.form) ?? 0)
}

function pcmOf({ grid }: TransportFile, sound: TransportSound): PcmSound {
  const { startOf } = sound.units
  return { ...sound, rangesOf: (unit) => rangesIn(sound, grid, startOf(unit), startOf(unit + 1)) }
}

function pidOf({ input }: WantedTrack): number {
  return input.id ?? -1
}

function survey(file: TransportFile, wanted: Wanted): Survey {
  const { media, tracks } = wanted
  const donors: DonorFormat[] = []
  for (const track of tracks) {
    const sound = file.sounds.get(pidOf(track))
    const kind = FRAME_KINDS[track.input.codec ?? '']
    const donor = FRAME_DONORS[track.input.codec ?? '']
    if (typeof sound === 'string') return declines(sound)
    if (sound && isPackedPcm(track)) {
      const packed = pcmDonor(pcmOf(file, sound), track, media)
      if (typeof packed === 'string') return declines(packed)
      donors.push(packed)
      continue
    }
    if (!sound || !kind || !donor) return declines(`${track.input.codec} has no frames to replace`)
    const reason = unfitSound(file, sound, track, { kind, media, isAlone: tracks.length === 1 })
    if (reason !== undefined) return declines(reason)
    const { form, hasRest } = sound.frames
    const { count } = (sound.isBroken ? placesOf(sound, track) : null) ?? sound.frames
    donors.push({
      ...donor,
      skipSamples: lateSamples(media, track.input),
      // The beginning of a frame that was cut off is replaced by that of a new one.
      sampleCount: (count + (hasRest ? 1 : 0)) * kind.samplesOf(form),
      priming: 'trimmed' as const,
      ...(sound.isBroken && { becomesOtherPackets: true as const }),
    })
  }
  return { kind: 'takes', census: censusOfTransport(file, media, new Set(tracks.map(pidOf))), donors }
}

const NEW_SOUND = 'packets of the new sound'
const NEW_AMONG_OTHERS = 'new sound in the places of the old, and of padding if it needs more; every other packet stays'

/** Lists the fate of a transport stream: the first packet of each PID, and the packets between them as one. */
function censusOfTransport(
  { sizeBytes, grid, end, firsts }: TransportFile,
  media: MediaInfo,
  changed: ReadonlySet<number>,
): readonly CensusEntry[] {
  const entries = firsts.map(({ pid, number, hasPayload }) => {
    const [path, start] = [pidName(media, pid, hasPayload), grid.first + number * grid.size]
    return changed.has(pid) ? rewritten(path, start, PLAIN_BYTES, NEW_SOUND) : kept(path, start, PLAIN_BYTES)
  })
  const others = (at: number, length: number) =>
    at === 0 ? kept('leading bytes', at, length) : rewritten('packets', at, length, NEW_AMONG_OTHERS)
  const trailing = end < sizeBytes ? [kept('trailing bytes', end, sizeBytes - end)] : []
  return [...withGaps(entries, [0, end], others), ...trailing]
}
