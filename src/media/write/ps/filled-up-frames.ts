import { type BytePiece, newBytes } from '../byte-plan.js'
import { KBIT_LAYER_2 } from '../frames/mpeg-frames.js'
import type { SoundFrames } from '../pes/frame-splitter.js'
import type { MadeFrames } from '../pes/timed-frames.js'
import type { WantedTrack } from '../writer.js'

const HEAD_BYTES = 4
const [RATE_SHIFT, RATE_BITS, PADDING_BIT] = [12, 0xf000, 0x200]
const SAMPLES_PER_BYTE = 144
const LEAST_MPEG_1_RATE = 32_000

/**
 * The bit rate of an encoder whose frames of MPEG layer II fit into old ones of two sizes, which no encoder repeats. They
 * are filled up, so they need the same table of bits as those of the old rate. Undefined if there is none.
 */
export function filledUpRate(frames: SoundFrames, { input, encoding, channels }: WantedTrack): number | undefined {
  const { bitRate } = encoding
  const { sampleRate } = input
  if (input.codec !== 'mp2' || bitRate === null || sampleRate < LEAST_MPEG_1_RATE) return undefined
  const bytes = Math.floor((SAMPLES_PER_BYTE * bitRate) / sampleRate)
  for (let frame = 0; frame < frames.count; frame++) {
    const size = frames.startOf(frame + 1) - frames.startOf(frame)
    if (size !== bytes && size !== bytes + 1) return undefined
  }
  const index = KBIT_LAYER_2.indexOf(bitRate / 1000)
  if (index < 2) return undefined
  const lesser = (KBIT_LAYER_2[index - 1] ?? 0) * 1000
  const isSame = bitTable(lesser / channels, sampleRate) === bitTable(bitRate / channels, sampleRate)
  return isSame ? lesser : undefined
}

/** The table of bits for the samples of a frame (ISO/IEC 11172-3, annex B.2), by the bit rate of a channel. */
function bitTable(bitRate: number, sampleRate: number): 'a' | 'b' | 'c' | 'd' {
  if (bitRate >= 56_000 && (sampleRate === 48_000 || bitRate <= 80_000)) return 'a'
  if (bitRate >= 96_000) return 'b'
  return sampleRate === 32_000 ? 'd' : 'c'
}

/** New frames with the sizes of old ones, each with zeros behind its sound. @param head header of a new frame */
export function* filledUpFrames(
  frames: SoundFrames,
  { count, startOf }: MadeFrames,
  { donor, bitRate, sampleRate, head }: FilledUp,
): Generator<BytePiece> {
  const bytes = Math.floor((SAMPLES_PER_BYTE * bitRate) / sampleRate)
  const plain = (head.readUInt32BE() & ~RATE_BITS & ~PADDING_BIT) | (KBIT_LAYER_2.indexOf(bitRate / 1000) << RATE_SHIFT)
  for (let frame = 0; frame < count; frame++) {
    const size = frame < frames.count ? frames.startOf(frame + 1) - frames.startOf(frame) : bytes
    const [start, end] = [startOf(frame), startOf(frame + 1)]
    const stated = Buffer.alloc(HEAD_BYTES)
    stated.writeInt32BE(size > bytes ? plain | PADDING_BIT : plain)
    yield newBytes(stated)
    yield { kind: 'donor', donor, start: start + HEAD_BYTES, length: end - start - HEAD_BYTES }
    yield newBytes(Buffer.alloc(size - (end - start)))
  }
}

interface FilledUp {
  readonly donor: number
  readonly bitRate: number
  readonly sampleRate: number
  readonly head: Buffer
}
