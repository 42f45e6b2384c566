import { MalformedFile } from '../../probe/malformed-file.js'
import { Column } from '../column.js'
import { FRAME_HEAD_BYTES, type FrameKind } from './frame-kinds.js'

/** Bytes in which the first frame is found: they hold four of the longest ones. */
const SEARCHED_BYTES = 32 * 1024

/** Finds the frames of a sound whose bytes come in pieces. */
export class FrameSplitter {
  readonly #kind: FrameKind
  /** First byte of each whole frame, counted from the start of the sound, and of the one behind the last. */
  readonly #starts = Column.floats()
  readonly #lengths = new Set<number>()
  #form: number | undefined
  #lead: Buffer | null = Buffer.alloc(0)
  /** Bytes so far, and the place of the next frame. */
  #end = 0
  #next = 0
  #rest: Buffer = Buffer.alloc(0)

  constructor(kind: FrameKind) {
    this.#kind = kind
    if (kind.isUnit) this.#lead = null
  }

  /** @throws MalformedFile if other bytes lie between frames, or if the sound changes its form */
  take(bytes: Buffer): void {
    this.#end += bytes.length
    if (this.#lead) {
      this.#lead = Buffer.concat([this.#lead, bytes])
      if (this.#lead.length >= SEARCHED_BYTES) this.#begin(this.#lead)
    } else this.#walk(bytes)
  }

  /** Bytes are missing before the next ones, which may begin within a frame. The last frame stays if it is whole. */
  break(): void {
    if (this.#lead) this.#beginAt(this.#firstIn(this.#lead), this.#lead)
    if (this.#next > this.#end) this.#starts.shorten(this.#starts.count - 1)
    this.#next = this.#end
    this.#lead = Buffer.alloc(0)
    this.#rest = Buffer.alloc(0)
  }

  /** Passes over damaged bytes between two breaks. */
  skip(length: number): void {
    this.#end += length
    this.#next = this.#end
  }

  /** Frames of which the heads were read; null before the first was found. */
  get begun(): number | null {
    return this.#lead ? null : this.#starts.count
  }

  /** The frames, of which the last may have been cut off. @throws MalformedFile without any */
  finish(): SoundFrames {
    if (this.#lead && this.#starts.count > 0) this.break()
    else if (this.#lead) this.#begin(this.#lead)
    // A header that announces a frame of which the end is missing.
    const isCut = this.#next > this.#end
    const count = this.#starts.count - (isCut ? 1 : 0)
    if (count < 1 || this.#form === undefined) throw new MalformedFile('the track has no whole frames')
    const starts = this.#starts
    const end = isCut ? starts.get(count) : this.#next
    const startOf = (frame: number) => (frame < count ? starts.get(frame) : end)
    const [length, ...others] = this.#lengths
    const bytesOfAll = length !== undefined && others.length === 0 ? length : null
    return { count, form: this.#form, startOf, hasRest: this.#end > end, bytesOfAll }
  }

  #begin(lead: Buffer): void {
    const first = this.#firstIn(lead)
    if (first === undefined) throw new MalformedFile('the track does not consist of frames')
    this.#beginAt(first, lead)
  }

  #beginAt(first: number | undefined, lead: Buffer): void {
    this.#lead = null
    if (first === undefined) return
    this.#next = this.#end - lead.length + first
    this.#walk(lead.subarray(first))
  }

  /** The first place from which frames follow each other to the end. */
  #firstIn(lead: Buffer): number | undefined {
    for (let first = 0; first + FRAME_HEAD_BYTES <= lead.length; first++) {
      let at = first
      let frames = 0
      while (at + FRAME_HEAD_BYTES <= lead.length) {
        const length = this.#lengthAt(lead, at)
        if (length === 0 || this.#isOtherForm(lead, at)) break
        at += length
        frames += 1
      }
      if (at + FRAME_HEAD_BYTES > lead.length && frames > 1) return first
    }
    return undefined
  }

  #walk(bytes: Buffer): void {
    const data = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes
    const start = this.#end - data.length
    while (this.#next + FRAME_HEAD_BYTES <= this.#end) {
      const at = this.#next - start
      const length = this.#lengthAt(data, at)
      if (length === 0) throw new MalformedFile('other bytes lie between the frames of the track')
      const form = this.#kind.formOf(data, at)
      if (form < 0) throw new MalformedFile('the track has frames in a form that voxmux does not write')
      this.#form ??= form
      if (form !== this.#form) throw new MalformedFile('the track changes its form')
      // Two lengths are as good as many.
      if (this.#lengths.size < 2) this.#lengths.add(length)
      this.#starts.push(this.#next)
      this.#next += length
    }
    this.#rest = this.#next < this.#end ? Buffer.from(data.subarray(this.#next - start)) : Buffer.alloc(0)
  }

  #isOtherForm(bytes: Buffer, at: number): boolean {
    return this.#form !== undefined && this.#kind.formOf(bytes, at) !== this.#form
  }

  #lengthAt(bytes: Buffer, at: number): number {
    const length = this.#kind.lengthAt(bytes, at)
    return length >= FRAME_HEAD_BYTES ? length : 0
  }
}

/** The frames of a sound. Places count from the first byte of the sound. */
export interface SoundFrames {
  /** Whole frames. */
  readonly count: number
  readonly form: number
  /** First byte of a frame; for `count`, the one behind the last. */
  readonly startOf: (frame: number) => number
  /** True if the beginning of another frame follows. */
  readonly hasRest: boolean
  /** Bytes of every frame; null if they differ. */
  readonly bytesOfAll: number | null
}
