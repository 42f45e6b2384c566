import type { FrameKind } from './frame-kinds.js'

/** A form of PCM in units: how its samples are packed. */
export interface PcmForm {
  readonly bits: number
  readonly channels: number
  /** Samples are packed in blocks of so many bytes. */
  readonly blockBytes: number
  /** Samples in a block, each with a value for every channel. */
  readonly blockSamples: number
  /** Puts the values of a block in place of the old ones: integers of 32 bits, left aligned. */
  readonly put: (block: Buffer, at: number, values: Int32Array) => void
}

/** A coding of PCM whose units begin with a head that states its form. */
export interface PcmKind {
  readonly frames: FrameKind
  readonly headBytes: number
  /** True if a block may lie in two units. */
  readonly joinsUnits: boolean
  /** Undefined for a form that voxmux does not write. @param form as `frames` read it */
  readonly formOf: (form: number) => PcmForm | undefined
}

/** Its units, and not its frames, say where it begins. */
const UNITS = { streamTypes: [], isUnit: true, samplesOf: () => 0, mostBytes: () => 0 } as const

/** By ffmpeg's name of the codec. */
export const PCM_KINDS: Readonly<Record<string, PcmKind>> = {
  pcm_bluray: {
    frames: { ...UNITS, lengthAt: lengthWithHead, formOf: (bytes, at) => bytes.readUInt16BE(at + 2) & 0xffc0 },
    headBytes: 4,
    joinsUnits: false,
    formOf: bluRayForm,
  },
  s302m: {
    frames: { ...UNITS, lengthAt: lengthWithHead, formOf: (bytes, at) => bytes.readUInt16BE(at + 2) & 0xc030 },
    headBytes: 4,
    joinsUnits: false,
    formOf: broadcastForm,
  },
  pcm_dvd: {
    // The packet alone states its length.
    frames: { ...UNITS, lengthAt: (bytes, at) => bytes.length - at, formOf: (bytes, at) => bytes[at + 1] as number },
    headBytes: 3,
    joinsUnits: true,
    formOf: dvdForm,
  },
}

/** The head of a unit begins with the bytes behind it. */
function lengthWithHead(bytes: Buffer, at: number): number {
  return 4 + bytes.readUInt16BE(at)
}

/** Channels in the order of a Blu-ray, as ffmpeg numbers them, by the code in the head. An odd number gets one more. */
const BLU_RAY_ORDERS: Readonly<Record<number, readonly number[]>> = {
  ...{ 1: [0], 3: [0, 1], 4: [0, 1, 2], 5: [0, 1, 2], 6: [0, 1, 2, 3], 7: [0, 1, 2, 3], 8: [0, 1, 2, 3, 4] },
  ...{ 9: [0, 1, 2, 4, 5, 3], 10: [0, 1, 2, 5, 3, 4, 6], 11: [0, 1, 2, 6, 4, 5, 7, 3] },
}
const BLU_RAY_BITS = [0, 16, 20, 24]

function bluRayForm(form: number): PcmForm | undefined {
  const [order, bits = 0] = [BLU_RAY_ORDERS[form >> 12], BLU_RAY_BITS[(form >> 6) & 3]]
  if (!order || bits === 0) return undefined
  const valueBytes = bits === 16 ? 2 : 3
  return {
    ...{ bits, channels: order.length, blockSamples: 1 },
    blockBytes: valueBytes * (order.length + (order.length % 2)),
    put: (block, at, values) => {
      for (const [place, channel] of order.entries()) {
        block.writeIntBE((values[channel] as number) >> (32 - 8 * valueBytes), at + place * valueBytes, valueBytes)
      }
    },
  }
}

/** Bits of a half byte in reverse. */
const REVERSED = Uint8Array.from({ length: 16 }, (_, half) => {
  return ((half & 1) << 3) | ((half & 2) << 1) | ((half & 4) >> 1) | ((half & 8) >> 3)
})

/** Pairs of values of AES3 (SMPTE 302M), the lowest bit first. Four bits of status follow each value, and stay. */
function broadcastForm(form: number): PcmForm | undefined {
  const [bits, channels] = [16 + 4 * ((form >> 4) & 3), 2 * ((form >> 14) + 1)]
  if (bits > 24) return undefined
  const halves = bits / 4
  return {
    ...{ bits, channels, blockSamples: 1 },
    blockBytes: (channels / 2) * (halves + 1),
    put: (block, at, values) => {
      for (let channel = 0; channel < channels; channel++) {
        const first = 2 * at + channel * (halves + 1)
        for (let half = 0; half < halves; half++) {
          const [byte, isLow] = [(first + half) >> 1, (first + half) % 2 === 1]
          const reversed = REVERSED[((values[channel] as number) >>> (32 - bits + 4 * half)) & 15] as number
          const old = block[byte] as number
          block[byte] = isLow ? (old & 0xf0) | reversed : (old & 15) | (reversed << 4)
        }
      }
    },
  }
}

/** The high 16 bits of some values, and then their low ones. */
function dvdForm(form: number): PcmForm | undefined {
  const [bits, channels] = [16 + 4 * (form >> 6), (form & 7) + 1]
  if (bits > 24) return undefined
  const blockSamples = bits === 16 ? 1 : 8 % channels === 0 ? Math.max(1, 4 / channels) : 4
  const group = bits === 16 ? channels : channels === 1 ? 2 : 4
  const lowBits = bits - 16
  return {
    ...{ bits, channels, blockSamples },
    blockBytes: (blockSamples * channels * bits) / 8,
    put: (block, at, values) => {
      let byte = at
      for (let first = 0; first < values.length; first += group) {
        for (let value = first; value < first + group; value++, byte += 2) {
          block.writeInt16BE((values[value] as number) >> 16, byte)
        }
        for (let value = first; lowBits > 0 && value < first + group; value += 8 / lowBits, byte++) {
          const low = ((values[value] as number) >>> 8) & 0xff
          block[byte] = lowBits === 8 ? low : (low & 0xf0) | (((values[value + 1] as number) >>> 12) & 15)
        }
      }
    },
  }
}
