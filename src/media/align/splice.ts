import { JobFailedError } from '../../core/errors.js'
import { frameBytes, type PcmFormat, type PcmStream, sampleBytes } from '../pcm/pcm.js'
import { PcmReader } from '../pcm/pcm-reader.js'
import { readSamples, writeSamples } from '../pcm/pcm-samples.js'
import { slicePcm } from '../pcm/pcm-streams.js'
import type { ChannelPick, SampleRange } from '../voice-cut.js'

/** Regenerated audio and its places. */
export interface SplicePiece {
  /** The ranges to replace, without handles: disjoint and in order. Between them, the original stays. */
  readonly ranges: readonly SampleRange[]
  /** `one` replaces only that channel. `all` and `downmix` replace every channel of the (folded) original. */
  readonly channels: ChannelPick
  /** At the original's rate: one channel for `one`, otherwise as many as the original. Any sample type. */
  readonly voice: PcmStream
  /** Samples of {@link voice} before the first range. */
  readonly handleSamples: number
  /** Length of the fade at either edge, inside each range; at most half of it. */
  readonly crossfadeSamples: number
  /** Share of the voice in the result, 0 to 1; the rest is the original. Default 1. */
  readonly share?: number | undefined
}

interface SpliceOptions {
  readonly original: PcmStream
  /** Sample of the clock at which {@link original} begins, before every piece. Default 0. */
  readonly startSample?: number | undefined
  /** In any order. Pieces on the same channel must not overlap. */
  readonly pieces: readonly SplicePiece[]
}

/**
 * Splices the pieces into the original. The result has the original's format and length. Outside the ranges, and in
 * other channels, its bytes are the original's. Inside, past the fades, audio of the same sample type is copied bit for
 * bit. The track's own start and end have no fade, because there is nothing to fade from. A piece that replaces
 * everything with a share of 1 passes unchanged, in its own sample type.
 *
 * @throws RangeError if the pieces overlap or do not fit the original's format
 * @throws {JobFailedError} `ERR_VOICE_TOO_SHORT`, while reading, if a piece ends inside its range
 */
export function splice({ original, pieces, startSample = 0 }: SpliceOptions): PcmStream {
  const { format, sampleCount } = original
  for (const piece of pieces) checkPiece(piece, format)
  checkDisjoint(pieces, format.channels)
  const [only] = pieces
  if (
    startSample === 0 &&
    only &&
    pieces.length === 1 &&
    sampleCount !== null &&
    replacesEverything(only, original, sampleCount)
  ) {
    // The original is inaudible, so it is not decoded a second time.
    return slicePcm(only.voice, only.handleSamples, sampleCount)
  }
  return { format, sampleCount, buffers: () => spliced(original, pieces, startSample) }
}

async function* spliced(
  original: PcmStream,
  pieces: readonly SplicePiece[],
  startSample: number,
): AsyncGenerator<Buffer> {
  const { format, sampleCount } = original
  const total = sampleCount === null ? null : startSample + sampleCount
  const frame = frameBytes(format)
  const waiting = [...pieces].sort((one, other) => startOf(one) - startOf(other))
  const active: ActivePiece[] = []
  let at = startSample
  try {
    for await (const buffer of original.buffers()) {
      const end = at + buffer.length / frame
      while (waiting[0] && startOf(waiting[0]) < end) active.push(await begin(waiting.shift() as SplicePiece))
      const mixed = active.length === 0 ? buffer : Buffer.from(buffer)
      for (const piece of active) {
        // A piece can have hundreds of ranges, and a buffer few of them.
        const inBuffer = piece.ranges.filter(({ startSample, endSample }) => startSample < end && endSample > at)
        for (const range of inBuffer) await layIn(piece, range, { bytes: mixed, at, format, total })
      }
      yield mixed
      for (const done of active.filter(({ ranges }) => ranges.every(({ endSample }) => endSample <= end))) {
        active.splice(active.indexOf(done), 1)
        await done.reader.close()
      }
      at = end
    }
  } finally {
    for (const { reader } of active) await reader.close()
  }
}

interface ActivePiece extends SplicePiece {
  readonly reader: PcmReader
  /** The sample of the original for which the reader has the next one. */
  nextSample: number
}

async function begin(piece: SplicePiece): Promise<ActivePiece> {
  const reader = new PcmReader(piece.voice)
  await reader.skip(piece.handleSamples)
  return { ...piece, reader, nextSample: startOf(piece) }
}

function startOf({ ranges }: SplicePiece): number {
  return (ranges[0] as SampleRange).startSample
}

/** Some of a track of `total` samples; its first sample is `at`. */
interface MixedBuffer {
  readonly bytes: Buffer
  readonly at: number
  readonly format: PcmFormat
  readonly total: number | null
}

/** Mixes a range of a piece into the part of it in this buffer. */
async function layIn(piece: ActivePiece, range: SampleRange, { bytes: buffer, at, format, total }: MixedBuffer) {
  const { voice } = piece
  const from = Math.max(range.startSample, at)
  const to = Math.min(range.endSample, at + buffer.length / frameBytes(format))
  await piece.reader.skip(from - piece.nextSample)
  const bytes = await piece.reader.read(to - from)
  piece.nextSample = to
  if (bytes.length < (to - from) * frameBytes(voice.format))
    throw new JobFailedError('ERR_VOICE_TOO_SHORT', `The regenerated audio ends early, at sample ${from}.`)

  const fade = Math.min(piece.crossfadeSamples, Math.floor((range.endSample - range.startSample) / 2))
  const fadeInEnd = range.startSample === 0 ? 0 : range.startSample + fade
  const fadeOutStart = total !== null && range.endSample >= total ? range.endSample : range.endSample - fade
  const channels = piece.channels.kind === 'one' ? [piece.channels.channel] : [...Array(format.channels).keys()]
  const lay = (start: number, end: number, weightAt?: (sample: number) => number) => {
    if (start >= end) return
    const part = bytes.subarray((start - from) * frameBytes(voice.format), (end - from) * frameBytes(voice.format))
    const target = buffer.subarray((start - at) * frameBytes(format), (end - at) * frameBytes(format))
    const overlap = { target, format, voice: part, from: voice.format, channels }
    if (weightAt) blend(overlap, (index) => weightAt(start + index))
    else replace(overlap)
  }
  const middleStart = Math.max(from, Math.min(fadeInEnd, to))
  const middleEnd = Math.max(middleStart, Math.min(fadeOutStart, to))
  const share = piece.share ?? 1
  lay(from, middleStart, (sample) => share * raisedCosine(sample - range.startSample, fade))
  lay(middleStart, middleEnd, share === 1 ? undefined : () => share)
  lay(middleEnd, to, (sample) => share * raisedCosine(range.endSample - 1 - sample, fade))
}

/** Samples of a track, and those of a voice for some of its channels. */
interface Overlap {
  readonly target: Buffer
  readonly format: PcmFormat
  readonly voice: Buffer
  readonly from: PcmFormat
  readonly channels: readonly number[]
}

function replace({ target, format, voice, from, channels }: Overlap) {
  const values = from.sample === format.sample ? voice : writeSamples(readSamples(voice, from.sample), format.sample)
  if (channels.length === format.channels) {
    values.copy(target)
    return
  }
  const size = sampleBytes(format.sample)
  for (let index = 0, frames = target.length / frameBytes(format); index < frames; index++) {
    for (const [place, channel] of channels.entries()) {
      const source = (index * from.channels + place) * size
      values.copy(target, (index * format.channels + channel) * size, source, source + size)
    }
  }
}

/** Equal gain: original and regenerated audio are correlated speech, and equal power would swell by up to 3 dB. */
function blend({ target, format, voice, from, channels }: Overlap, weightAt: (index: number) => number) {
  const original = readSamples(target, format.sample)
  const values = readSamples(voice, from.sample)
  const mixed = original.slice()
  for (let index = 0, frames = target.length / frameBytes(format); index < frames; index++) {
    const weight = weightAt(index)
    for (const [place, channel] of channels.entries()) {
      const slot = index * format.channels + channel
      const before = original[slot] as number
      mixed[slot] = before + weight * ((values[index * from.channels + place] as number) - before)
    }
  }
  writeSamples(mixed, format.sample).copy(target)
}

function checkPiece({ ranges, channels, voice, handleSamples }: SplicePiece, format: PcmFormat) {
  const isFilled = ({ startSample, endSample }: SampleRange) => startSample >= 0 && endSample > startSample
  if (ranges.length === 0 || !ranges.every(isFilled)) throw new RangeError('empty range to splice')
  if (handleSamples < 0) throw new RangeError('the voice starts after its range')
  if (voice.format.sampleRate !== format.sampleRate) throw new RangeError('voice and original differ in rate')
  const expected = channels.kind === 'one' ? 1 : format.channels
  if (voice.format.channels !== expected) {
    throw new RangeError(`a voice of ${expected} channels is needed, not ${voice.format.channels}`)
  }
  if (channels.kind === 'one' && !(channels.channel >= 0 && channels.channel < format.channels)) {
    throw new RangeError(`channel ${channels.channel} does not exist`)
  }
}

function checkDisjoint(pieces: readonly SplicePiece[], channels: number) {
  for (let channel = 0; channel < channels; channel++) {
    const touching = pieces
      .filter((piece) => piece.channels.kind !== 'one' || piece.channels.channel === channel)
      .flatMap(({ ranges }) => ranges)
      .sort((one, other) => one.startSample - other.startSample)
    for (const [index, range] of touching.entries()) {
      const next = touching[index + 1]
      if (next && next.startSample < range.endSample) throw new RangeError('pieces to splice overlap')
    }
  }
}

function replacesEverything(piece: SplicePiece, { format }: PcmStream, sampleCount: number): boolean {
  const { ranges, channels, voice, handleSamples, share = 1 } = piece
  const [range, ...more] = ranges
  return (
    share === 1 &&
    (channels.kind !== 'one' || format.channels === 1) &&
    more.length === 0 &&
    range?.startSample === 0 &&
    range.endSample >= sampleCount &&
    voice.sampleCount !== null &&
    voice.sampleCount - handleSamples >= sampleCount
  )
}

/**
 * Weight of the incoming signal at `index` of a fade of `length` samples. A raised cosine, above 0 at 0 and below 1 at
 * `length - 1`, because the neighbours of a fade are complete. 0 before, 1 after.
 */
export function raisedCosine(index: number, length: number): number {
  if (index < 0) return 0
  if (index >= length) return 1
  return 0.5 - 0.5 * Math.cos((Math.PI * (index + 1)) / (length + 1))
}
