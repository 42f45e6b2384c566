import type { MediaInfo } from '../../media-info.js'
import { clockFault } from '../pes/clock-fault.js'
import { constantBytes, FRAME_KINDS, type FrameKind } from '../pes/frame-kinds.js'
import { placedClockFault } from '../pes/frame-places.js'
import { firstFrameOf } from '../pes/timed-frames.js'
import { unfitTrack } from '../pes/unfit-track.js'
import { CORRECTED_BYTES, PLAIN_BYTES } from '../structure/transport-pids.js'
import type { WantedTrack } from '../writer.js'
import type { TransportSound } from './sound-packets.js'
import { fitsPadding } from './spare-packets.js'
import { untrueFact } from './stated-facts.js'
import type { TransportFile } from './transport-file.js'

/** The length of a unit has 16 bits. */
const MOST_UNIT_BYTES = 65_000

/**
 * The reason why voxmux cannot put new frames into the packets of a track; undefined if it can. Pure.
 *
 * @param isAlone no other track gets new frames, which would need the same padding
 */
export function unfitSound(
  file: TransportFile,
  sound: TransportSound,
  track: WantedTrack,
  { kind, media, isAlone }: { readonly kind: FrameKind; readonly media: MediaInfo; readonly isAlone: boolean },
): string | undefined {
  const { input, encoding, channels } = track
  const { codec } = input
  const reason = unfitTrack(track, media)
  if (reason !== undefined) return reason
  if (codec === 'aac' && input.profile !== 'LC') return `its profile is ${input.profile ?? 'unknown'}, not LC`
  const samples = kind.samplesOf(sound.frames.form)
  const made = constantBytes(encoding.codec, encoding.bitRate, input.sampleRate, samples)
  const hasSameFrames = made !== undefined && made === sound.frames.bytesOfAll
  return (
    untrueTables(file, track, hasSameFrames) ??
    (hasSameFrames ? undefined : rigidReason(file, sound, kind.mostBytes(channels), isAlone)) ??
    (sound.isBroken ? placedClockFault : clockFault)(sound, track, media, samples)
  )
}

function untrueTables(
  { tables }: TransportFile,
  { input, encoding }: WantedTrack,
  hasSameFrames: boolean,
): string | undefined {
  if (typeof tables === 'string') return tables
  const facts = { codec: encoding.codec, bitRate: encoding.bitRate, hasSameFrames }
  const types = FRAME_KINDS[encoding.codec]?.streamTypes ?? []
  let isListed = false
  for (const table of tables) {
    for (const entry of table.entries) {
      if (entry.pid !== input.id) continue
      isListed = true
      if (!types.includes(entry.streamType)) return `its type ${entry.streamType} is not that of its frames`
      const fact = untrueFact(table, entry, facts)
      if (fact !== undefined) return fact
    }
  }
  return isListed ? undefined : 'no program lists the track'
}

/** The reason why frames of another size do not fit; undefined if they do. */
function rigidReason({ isElastic, grid }: TransportFile, sound: TransportSound, frameBytes: number, isAlone: boolean) {
  const { isRigid, isBroken, units, frames } = sound
  const why = 'and new frames may have other sizes'
  if (grid.size === CORRECTED_BYTES) return `other bytes follow each of its packets, ${why}`
  if (grid.size !== PLAIN_BYTES && !isElastic) return `its packets state when they arrive, ${why}`
  if (isBroken) return `packets of the track are missing or damaged, ${why}`
  if (isRigid) return `packets of the track state facts about their bytes, ${why}`
  let mostBytes = frameBytes
  for (let frame = 0; frame < frames.count; frame++) {
    mostBytes = Math.max(mostBytes, frames.startOf(frame + 1) - frames.startOf(frame))
  }
  // A unit in which no frame begins gets a part of one.
  const bytesOf = (unit: number) => {
    const count = firstFrameOf(sound, unit + 1) - firstFrameOf(sound, unit)
    return units.headBytes(unit) + Math.max(1, count) * mostBytes
  }
  for (let unit = 0; unit < units.count; unit++) {
    if (bytesOf(unit) > MOST_UNIT_BYTES) return `its units are long, ${why}`
  }
  const fits = isElastic || (isAlone && fitsPadding(sound, bytesOf))
  return fits ? undefined : `its packets come at a constant rate, ${why}`
}
