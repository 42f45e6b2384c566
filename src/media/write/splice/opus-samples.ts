/** Samples of a frame at 48 kHz, by the configuration of its packet (RFC 6716, 3.1): SILK, hybrid and CELT. */
const SILK = [480, 960, 1920, 2880]
const HYBRID = [480, 960]
const CELT = [120, 240, 480, 960]
const FRAME_SAMPLES: readonly number[] = [
  ...SILK,
  ...SILK,
  ...SILK,
  ...HYBRID,
  ...HYBRID,
  ...Array(4).fill(CELT).flat(),
]

/** Rate at which Opus counts samples, whatever the rate of the track. */
export const OPUS_RATE = 48_000
const PRE_SKIP_AT = 10

/** Samples at the start that are not played, by the id header (RFC 7845, 4.2); null if it is too short. */
export function preSkipOf(id: Buffer | null | undefined): number | null {
  return id && id.length >= PRE_SKIP_AT + 2 ? id.readUInt16LE(PRE_SKIP_AT) : null
}

/** Bytes of a packet from which {@link opusSamples} reads. */
export const OPUS_HEAD_BYTES = 2

/** Samples at 48 kHz that a packet of Opus lasts, by its first bytes. */
export function opusSamples(packet: Buffer): number {
  const [first = 0, second = 0] = packet
  const frames = [1, 2, 2, second & 63][first & 3] as number
  return frames * (FRAME_SAMPLES[first >> 3] as number)
}

/** True if packets of that length can be joined: 10 to 60 ms. A decoder takes several shorter ones to settle. */
export function isJoinable(samples: number): boolean {
  return SILK.includes(samples)
}
