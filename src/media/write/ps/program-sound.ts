import { MalformedFile } from '../../probe/malformed-file.js'
import { Column } from '../column.js'
import type { FrameKind } from '../pes/frame-kinds.js'
import { FrameSplitter } from '../pes/frame-splitter.js'
import type { SoundUnits, TimedFrames } from '../pes/timed-frames.js'
import { ticksAt, UnitClock } from '../pes/unit-clock.js'
import { isMpeg2Header, type ProgramPart, timesAt } from '../structure/program-packets.js'

/** A sound in a program stream. Its units are the packets. */
export interface ProgramSound extends TimedFrames {
  readonly units: ProgramUnits
}

export interface ProgramUnits extends SoundUnits {
  /** Place in the file of the first byte of the sound in a unit. */
  readonly placeOf: (unit: number) => number
}

const [SCRAMBLED, CHECKSUM] = [0x30, 0x02]

/** Collects the packets of a sound. Its functions throw a MalformedFile that says why it cannot be rewritten. */
export class ProgramSoundReader {
  readonly #splitter: FrameSplitter
  readonly #clock = new UnitClock()
  readonly #places = Column.floats()
  readonly #starts = Column.floats()
  readonly #ticks = Column.floats()
  #soundBytes = 0

  constructor(kind: FrameKind) {
    this.#splitter = new FrameSplitter(kind)
  }

  /** @param headBytes of the packet before the sound @param payload the bytes behind them */
  take({ start, head }: ProgramPart, headBytes: number, payload: Buffer): void {
    const flags = isMpeg2Header(head) ? head.readUInt16BE(6) : 0
    if (((flags >> 8) & SCRAMBLED) !== 0) throw new MalformedFile('the track is encrypted')
    if ((flags & CHECKSUM) !== 0) throw new MalformedFile('the track states checksums of its old bytes')
    const times = timesAt(head)
    this.#places.push(start + headBytes)
    this.#starts.push(this.#soundBytes)
    this.#ticks.push(this.#clock.follow(times === undefined ? Number.NaN : ticksAt(head, times)))
    this.#soundBytes += payload.length
    this.#splitter.take(payload)
  }

  /** @throws MalformedFile */
  finish(): ProgramSound {
    const [places, starts, ticks, soundBytes] = [this.#places, this.#starts, this.#ticks, this.#soundBytes]
    const { count } = places
    if (count === 0) throw new MalformedFile('the track has no packets')
    return {
      units: {
        count,
        placeOf: (unit) => places.get(unit),
        startOf: (unit) => (unit < count ? starts.get(unit) : soundBytes),
        ticks: (unit) => ticks.get(unit),
      },
      frames: this.#splitter.finish(),
    }
  }
}
