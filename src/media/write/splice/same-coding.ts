import type { AudioStreamInfo } from '../../media-info.js'
import { codecChange } from '../encode/audio-encoding.js'
import { dolbySettings, readAc3, readEac3 } from '../encode/dolby-settings.js'
import type { TrackEntry } from '../matroska/read/track-entry.js'
import { xiphPackets } from '../matroska/read/unlace.js'
import type { WantedTrack } from '../writer.js'
import { opusSamples } from './opus-samples.js'

/** Samples of a packet, by codec. Those of Opus may last longer or shorter than 20 ms: `opusSamples` reads them. */
const SAMPLES: Readonly<Record<string, number>> = { aac: 1024, ac3: 1536, eac3: 1536, opus: 960, mp3: 1152 }
/** MPEG-2 has lower rates than these, and half as many samples in a packet of layer III. */
const LEAST_MPEG_1_RATE = 32_000

/** Samples in a packet of a track that {@link unspliceable} accepts; 0 if they differ. */
export function packetSamples({ codec, sampleRate }: Pick<AudioStreamInfo, 'codec' | 'sampleRate'>): number {
  const samples = SAMPLES[codec ?? ''] ?? 0
  return codec === 'mp3' && sampleRate < LEAST_MPEG_1_RATE ? samples / 2 : samples
}

/** The reason why packets of a new coding cannot stand between the old ones of a track; undefined if they may. */
export function unspliceable({ input, encoding, channels }: WantedTrack): string | undefined {
  const change = codecChange(input, encoding)
  if (change !== null) return change
  if (channels !== input.channels) return 'its channels are mixed'
  if (packetSamples(input) === 0 && input.codec !== 'vorbis')
    return `packets of ${input.codec} cannot be joined one by one`
  if (input.codec === 'aac' && input.profile !== 'LC') return `its profile is ${input.profile ?? 'unknown'}, not LC`
  return undefined
}

/** A packet with the coding that its container states. */
interface CodedPacket {
  readonly entry: TrackEntry
  readonly packet: Buffer | undefined
}

/** True if a decoder that was set up for one packet decodes the other. */
export function isSameCoding(one: CodedPacket, other: CodedPacket): boolean {
  if (one.entry.codecId !== other.entry.codecId || one.entry.sampleRate !== other.entry.sampleRate) return false
  const [old, made] = [codingOf(one), codingOf(other)]
  return old !== null && made !== null && JSON.stringify(old) === JSON.stringify(made)
}

/** The facts on which a decoder depends; null if they are not known. */
function codingOf({ entry: { codecId, codecPrivate }, packet }: CodedPacket): unknown {
  switch (codecId) {
    case 'A_AAC':
      return readAac(codecPrivate)
    case 'A_OPUS':
      return readOpus(codecPrivate)
    case 'A_VORBIS':
      return readVorbis(codecPrivate)
    case 'A_AC3':
      return readAc3(packet)
    case 'A_EAC3':
      return readEac3(packet)
    case 'A_MPEG/L3':
      return readLayerThree(packet)
    default:
      return null
  }
}

/** Object type, rate, channels and frame length fill 16 bits. Bits behind them state that there is no SBR. */
function readAac(header: Buffer | null) {
  return header && header.length >= 2 ? header.readUInt16BE(0) : null
}

const OPUS_CHANNELS_AT = 9
const OPUS_GAIN_AT = 16

/** Channels, gain and mapping (RFC 7845, 5.1). The priming is stated once for all packets. */
function readOpus(header: Buffer | null) {
  if (!header || header.length <= OPUS_GAIN_AT) return null
  return [header[OPUS_CHANNELS_AT], header.toString('hex', OPUS_GAIN_AT)]
}

const VORBIS_RATES_AT = 16
const VORBIS_BLOCKS_AT = 28

/** Channels, sample rate, sizes of blocks, and the whole set-up. A header also states bit rates, which decode nothing. */
function readVorbis(header: Buffer | null) {
  const [id, , setUp] = (header && xiphPackets(header)) ?? []
  if (!id || !setUp) return null
  return [id.subarray(0, VORBIS_RATES_AT), id.subarray(VORBIS_BLOCKS_AT), setUp].map((part) => part.toString('hex'))
}

/** Version, layer, sample rate, and one or two channels. Each packet states its own bit rate and kind of stereo. */
function readLayerThree(packet: Buffer | undefined) {
  if (!packet || packet.length < 4) return null
  return [(packet[1] as number) & 0x1e, (packet[2] as number) & 0x0c, (packet[3] as number) >> 6 === 3]
}

const OPUS_SAMPLES_A_MS = 48

/**
 * Encoder options for packets beside one of the track. Those of Opus get its length. Those of MP3 are encoded without data
 * in the packets before them.
 */
export function settingsLike({ codec }: AudioStreamInfo, packet: Buffer | undefined): readonly string[] {
  if (codec === 'mp3') return ['-reservoir', '0']
  if (codec === 'opus' && packet) return ['-frame_duration', String(opusSamples(packet) / OPUS_SAMPLES_A_MS)]
  return dolbySettings(codec, packet)
}
