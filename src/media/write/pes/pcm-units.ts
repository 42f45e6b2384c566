import { open } from 'node:fs/promises'
import type { ByteRange } from '../../../core/read-at.js'
import type { AudioStreamInfo, MediaInfo } from '../../media-info.js'
import { type PcmFormat, pcmFormatFor, rawFormatName, type SampleType, sampleBytes } from '../../pcm/pcm.js'
import { valuesOf } from '../../pcm/pcm-samples.js'
import { SourceWindow } from '../copy/source-window.js'
import { type DonorFormat, lateSamples, type WantedTrack } from '../writer.js'
import { unitClockFault } from './clock-fault.js'
import { PCM_KINDS, type PcmForm, type PcmKind } from './pcm-kinds.js'
import { replaceSideFile } from './replace-side-file.js'
import type { MadeFrames, TimedFrames } from './timed-frames.js'
import { unfitTrack } from './unfit-track.js'

/** PCM in units. */
export interface PcmSound extends TimedFrames {
  /** The places in the file of the bytes of a unit. */
  readonly rangesOf: (unit: number) => readonly ByteRange[]
}

/** ffmpeg takes the time of the first frame that begins in a packet of a DVD for that of the packet. */
const DVD_OFF_TICKS = 1350

/** True for a track whose samples lie in units with heads. */
export function isPackedPcm({ input }: WantedTrack): boolean {
  return (input.codec ?? '') in PCM_KINDS
}

/** The side file for new samples in the units of {@link isPackedPcm}, or the reason why voxmux cannot put any there. */
export function pcmDonor(sound: PcmSound, track: WantedTrack, media: MediaInfo): DonorFormat | string {
  const { input, channels } = track
  const { codec } = input
  const kind = PCM_KINDS[codec ?? ''] as PcmKind
  const reason = unfitTrack(track, media)
  if (reason !== undefined) return reason
  const form = kind.formOf(sound.frames.form)
  const { sample } = pcmFormatFor(input)
  if (!form || form.channels !== channels || (sample !== 's16' && sample !== 's32')) {
    return 'the track has samples in a form that voxmux does not write'
  }
  if (!areFrames(sound)) return 'the track has units that do not have the length that they state'
  if (!kind.joinsUnits && splitsBlocks(sound, kind, form)) return 'the track has units that end inside a sample'
  const { units } = sound
  const samplesBefore = (unit: number) => samplesIn(units.startOf(unit), unit, kind, form)
  const offTicks = codec === 'pcm_dvd' ? DVD_OFF_TICKS : undefined
  const fault = unitClockFault(units, track, media, samplesBefore, offTicks)
  if (fault !== undefined) return fault
  const blocks = Math.floor(samplesBefore(units.count) / form.blockSamples)
  const muxer = rawFormatName(sample)
  return {
    muxer,
    options: ['-c:a', `pcm_${muxer}`],
    skipSamples: lateSamples(media, input),
    sampleCount: blocks * form.blockSamples,
    becomesOtherPackets: true,
  }
}

/** True if every unit is a frame, and the last one may have been cut off. */
function areFrames({ units, frames }: TimedFrames): boolean {
  if (units.count !== frames.count + (frames.hasRest ? 1 : 0)) return false
  for (let unit = 0; unit <= frames.count; unit++) {
    if (frames.startOf(unit) !== units.startOf(unit)) return false
  }
  return true
}

function splitsBlocks({ frames }: TimedFrames, { headBytes }: PcmKind, { blockBytes }: PcmForm): boolean {
  for (let frame = 0; frame < frames.count; frame++) {
    if ((frames.startOf(frame + 1) - frames.startOf(frame) - headBytes) % blockBytes !== 0) return true
  }
  return false
}

function samplesIn(bytes: number, heads: number, { headBytes }: PcmKind, { blockBytes, blockSamples }: PcmForm) {
  return ((bytes - heads * headBytes) / blockBytes) * blockSamples
}

/** A file that gets new samples. */
interface PcmInput {
  readonly path: string
  readonly sizeBytes: number
  readonly sound: PcmSound
}

/**
 * Turns a side file of raw samples into one of units: the old ones, heads and bits of status included, with new samples.
 *
 * @param path of the side file
 */
export async function packPcm(
  path: string,
  { input }: WantedTrack,
  file: PcmInput,
  signal: AbortSignal | undefined,
): Promise<MadeFrames> {
  const { units } = file.sound
  await replaceSideFile(path, packedUnits(path, input, file), signal)
  return { count: units.count, startOf: units.startOf }
}

/** The units of a sound with new samples, in file order. */
async function* packedUnits(rawPath: string, track: AudioStreamInfo, { path, sizeBytes, sound }: PcmInput) {
  const { headBytes, formOf } = PCM_KINDS[track.codec ?? ''] as PcmKind
  const form = formOf(sound.frames.form) as PcmForm
  await using old = await open(path, 'r')
  await using raw = await open(rawPath, 'r')
  const rawBytes = (await raw.stat()).size
  const source = new SourceWindow(old, path, sizeBytes)
  const packer = new BlockPacker(form, pcmFormatFor(track), {
    source: new SourceWindow(raw, rawPath, rawBytes),
    rawBytes,
  })
  for (let unit = 0; unit < sound.units.count; unit++) {
    const bytes = Buffer.alloc(sound.units.startOf(unit + 1) - sound.units.startOf(unit))
    let at = 0
    for (const { start, length } of sound.rangesOf(unit)) {
      await source.read(bytes.subarray(at, at + length), start)
      at += length
    }
    await packer.pack(bytes.subarray(headBytes))
    yield bytes
  }
}

/** Puts raw samples into blocks, of which one may lie in two units. */
class BlockPacker {
  readonly #form: PcmForm
  readonly #sample: SampleType
  readonly #raw: { readonly source: SourceWindow; readonly rawBytes: number }
  /** Raw bytes of a block, and how many were read. */
  readonly #blockBytes: number
  #read = 0
  readonly #values: Int32Array
  /** The end of a block that began in the unit before. */
  #rest: Buffer = Buffer.alloc(0)

  constructor(form: PcmForm, { sample }: PcmFormat, raw: { readonly source: SourceWindow; readonly rawBytes: number }) {
    const values = form.blockSamples * form.channels
    this.#form = form
    this.#sample = sample
    this.#raw = raw
    this.#blockBytes = values * sampleBytes(sample)
    this.#values = new Int32Array(values)
  }

  /** @param body of a unit behind its head, which gets the next samples; bytes behind the last sample stay */
  async pack(body: Buffer): Promise<void> {
    const { blockBytes } = this.#form
    this.#rest.copy(body)
    let at = this.#rest.length
    const left = Math.floor((this.#raw.rawBytes - this.#read) / this.#blockBytes)
    const count = Math.min(left, Math.ceil(Math.max(0, body.length - at) / blockBytes))
    const raw = Buffer.alloc(count * this.#blockBytes)
    await this.#raw.source.read(raw, this.#read)
    this.#read += raw.length
    this.#rest = this.#rest.subarray(Math.min(body.length, at))
    const values = valuesOf(raw, this.#sample)
    for (let block = 0; block < count; block++, at += blockBytes) {
      this.#take(values, block)
      if (at + blockBytes <= body.length) this.#form.put(body, at, this.#values)
      else this.#rest = this.#begin(body.subarray(at))
    }
  }

  #take(values: ArrayLike<number>, block: number): void {
    const [first, bits] = [block * this.#values.length, this.#sample === 's16' ? 16 : 0]
    const kept = -1 << (32 - this.#form.bits)
    for (let value = 0; value < this.#values.length; value++) {
      this.#values[value] = ((values[first + value] as number) << bits) & kept
    }
  }

  /** Begins a block at the end of a unit. @returns the bytes of it that follow in the next one */
  #begin(end: Buffer): Buffer {
    const block = Buffer.alloc(this.#form.blockBytes)
    end.copy(block)
    this.#form.put(block, 0, this.#values)
    block.copy(end)
    return block.subarray(end.length)
  }
}
