import { firstPackets } from '../../ffmpeg/ffprobe.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../../media-info.js'

/** A recording may begin within a frame. */
const SOME_PACKETS = 3

/** {@link dolbySettings} of each new track whose frames state them, by place among the audio streams. */
export async function dolbyOptions(
  media: MediaInfo,
  { replaced }: { readonly replaced: readonly number[] },
): Promise<ReadonlyMap<number, readonly string[]>> {
  const found = new Map<number, readonly string[]>()
  for (const stream of audioStreams(media)) {
    if (!replaced.includes(stream.audioIndex) || !statesSettings(stream)) continue
    const settings = (await firstPackets(media, stream.index, SOME_PACKETS)).map((packet) =>
      dolbySettings(stream.codec, packet),
    )
    found.set(stream.audioIndex, settings.find(({ length }) => length > 0) ?? [])
  }
  return found
}

/** A track without a rate has no packets yet: ffprobe would read the whole file for them. */
function statesSettings({ codec, sampleRate }: AudioStreamInfo): boolean {
  return (codec === 'ac3' || codec === 'eac3') && sampleRate > 0
}

const CENTER_MIX = ['0.707', '0.595', '0.500']
const SURROUND_MIX = ['0.707', '0.500', '0.000']
/** "Not indicated" is the default, and the last value is reserved. */
const SURROUND_MODES = [undefined, '1', '2']
/** Those for the visually or hearing impaired, and parts of a programme. The encoder takes the others in mono alone. */
const SERVICES: ReadonlySet<number> = new Set([1, 2, 3, 4])

/**
 * Encoder options that state the loudness of dialogue of a packet of AC-3 or E-AC-3, by which players set their level.
 * Also its mix and kind of service. Empty for any other packet.
 */
export function dolbySettings(codec: string | null, packet: Buffer | undefined): readonly string[] {
  const dialogue = (level: number | undefined) => (level ? ['-dialnorm:{s}', String(-level)] : [])
  if (codec === 'eac3') return dialogue(readEac3(packet)?.dialogue)
  const facts = codec === 'ac3' ? readAc3(packet) : null
  if (!facts) return []
  const service = (packet?.[5] ?? 0) & 7
  const center = facts.centerMix === null ? undefined : CENTER_MIX[facts.centerMix]
  const surroundMode = SURROUND_MODES[facts.surroundMode ?? 0]
  const surround = facts.surroundMix === null ? undefined : SURROUND_MIX[facts.surroundMix]
  return [
    ...dialogue(facts.dialogue),
    ...(center ? ['-center_mixlev:{s}', center] : []),
    ...(surround ? ['-surround_mixlev:{s}', surround] : []),
    ...(surroundMode ? ['-dsur_mode:{s}', surroundMode] : []),
    ...(SERVICES.has(service) ? ['-audio_service_type:{s}', String(service)] : []),
  ]
}

/** Everything from the sample rate to the loudness of dialogue, but the bit rate (ATSC A/52, 5.3). */
export function readAc3(packet: Buffer | undefined) {
  if (!packet || packet.length < 12 || packet.readUInt16BE(0) !== 0x0b77) return null
  const bits = new Bits(packet, 32)
  const rate = bits.take(2)
  bits.take(6)
  const version = bits.take(5)
  bits.take(3)
  const mode = bits.take(3)
  const centerMix = (mode & 1) !== 0 && mode !== 1 ? bits.take(2) : null
  const surroundMix = (mode & 4) !== 0 ? bits.take(2) : null
  const surroundMode = mode === 2 ? bits.take(2) : null
  return { rate, version, mode, centerMix, surroundMix, surroundMode, lfe: bits.take(1), dialogue: bits.take(5) }
}

/** The same (ATSC A/52, annex E); null if the packet holds further streams, such as those of Atmos. */
export function readEac3(packet: Buffer | undefined) {
  if (!packet || packet.length < 8 || packet.readUInt16BE(0) !== 0x0b77) return null
  const bits = new Bits(packet, 16)
  const [type, stream, words] = [bits.take(2), bits.take(3), bits.take(11)]
  if (2 * (words + 1) !== packet.length) return null
  const [rate, blocks, mode, lfe, version] = [bits.take(2), bits.take(2), bits.take(3), bits.take(1), bits.take(5)]
  return { type, stream, rate, blocks, mode, lfe, version, dialogue: bits.take(5) }
}

/** Reads numbers of some bits, one after another. */
class Bits {
  readonly #bytes: Buffer
  #at: number

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  take(count: number): number {
    let value = 0
    for (let bit = 0; bit < count; bit++, this.#at++) {
      value = value * 2 + (((this.#bytes[this.#at >> 3] ?? 0) >> (7 - (this.#at & 7))) & 1)
    }
    return value
  }
}
