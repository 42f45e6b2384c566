/** Samples a second of every engine's input and output. */
export const SAMPLE_RATE = 48_000

/**
 * How a long file is cut into blocks that are worked on apart. Each block is given `beforeSamples` of what precedes it
 * and `afterSamples` of what follows, as far as there are any; its result has neither.
 */
export interface BlockPlan {
  readonly blockSamples: number
  readonly beforeSamples: number
  readonly afterSamples: number
}

/** A block as a worker gets it. */
export interface Block {
  /** All samples, context included; one array a channel. */
  readonly channels: readonly Float32Array<ArrayBuffer>[]
  /** Place of the block itself in {@link channels}: `[innerStart, innerEnd)`. */
  readonly innerStart: number
  readonly innerEnd: number
}

/**
 * Cuts a stream into blocks. Their starts depend on the stream alone (multiples of the block), never on how its
 * bytes arrive or which thread works on them. Holds one block and its context, whatever the stream's length.
 *
 * @param buffers interleaved 32-bit floats, little-endian; a buffer may end anywhere, even inside a sample
 */
export async function* cutBlocks(
  buffers: AsyncIterable<Uint8Array>,
  channelCount: number,
  plan: BlockPlan,
): AsyncGenerator<Block> {
  const window = new SlidingWindow(channelCount, plan)
  for await (const samples of wholeFrames(buffers, channelCount)) {
    for (let at = 0; at < samples.length; ) {
      at += window.fill(samples, at)
      if (window.isFull) yield window.take()
    }
  }
  while (window.hasMore) yield window.take()
}

/** The part of the stream in memory: the context of the next block, the block, and what follows it. */
class SlidingWindow {
  readonly #plan: BlockPlan
  readonly #channels: Float32Array<ArrayBuffer>[]
  #innerStart = 0
  #filled = 0

  constructor(channelCount: number, plan: BlockPlan) {
    this.#plan = plan
    const capacity = plan.beforeSamples + plan.blockSamples + plan.afterSamples
    this.#channels = Array.from({ length: channelCount }, () => new Float32Array(capacity))
  }

  get isFull(): boolean {
    return this.#filled === this.#innerStart + this.#plan.blockSamples + this.#plan.afterSamples
  }

  get hasMore(): boolean {
    return this.#filled > this.#innerStart
  }

  /** Takes as many interleaved samples as there is room for, and says how many. */
  fill(samples: Float32Array, at: number): number {
    const channels = this.#channels
    const room = this.#innerStart + this.#plan.blockSamples + this.#plan.afterSamples - this.#filled
    const count = Math.min(room, (samples.length - at) / channels.length)
    for (const [c, channel] of channels.entries()) {
      for (let i = 0; i < count; i++) channel[this.#filled + i] = samples[at + i * channels.length + c] ?? 0
    }
    this.#filled += count
    return count * channels.length
  }

  /** Gives the next block and moves on. */
  take(): Block {
    const innerStart = this.#innerStart
    const innerEnd = Math.min(this.#filled, innerStart + this.#plan.blockSamples)
    const channels = this.#channels.map((channel) => channel.slice(0, this.#filled))
    const drop = Math.max(0, innerEnd - this.#plan.beforeSamples)
    for (const channel of this.#channels) channel.copyWithin(0, drop, this.#filled)
    this.#filled -= drop
    this.#innerStart = innerEnd - drop
    return { channels, innerStart, innerEnd }
  }
}

/** The stream in pieces of whole sample frames, as numbers. */
async function* wholeFrames(buffers: AsyncIterable<Uint8Array>, channelCount: number): AsyncGenerator<Float32Array> {
  const frameBytes = channelCount * Float32Array.BYTES_PER_ELEMENT
  let rest: Uint8Array = new Uint8Array(0)
  for await (const buffer of buffers) {
    const bytes = rest.length === 0 ? buffer : Buffer.concat([rest, buffer])
    const whole = bytes.length - (bytes.length % frameBytes)
    rest = bytes.subarray(whole)
    if (whole === 0) continue
    // Copied, because a buffer may lie anywhere in its pool and floats want an address divisible by four.
    const aligned = new Uint8Array(whole)
    aligned.set(bytes.subarray(0, whole))
    yield new Float32Array(aligned.buffer)
  }
}
