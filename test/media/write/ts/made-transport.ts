import { checksumOf } from '../../checksum.js'

/** Choices for a made transport stream. Everything else follows from `seed`. */
export interface TransportForm {
  readonly seed: number
  readonly codec: 'mp2' | 'aac'
  /** 192: with arrival times before each packet. */
  readonly size: 188 | 192
  readonly frames: number
  readonly programs: 1 | 2
  /** Whole frames in a unit, or units that are cut after so many bytes of sound. */
  readonly unit: { readonly frames: number } | { readonly bytes: number }
  readonly statesLength: boolean
  /** Units state when they are decoded beside when they are played. */
  readonly statesDecoding: boolean
  /** Clock on the packets of the sound instead of the picture. */
  readonly clockOnSound: boolean
  /** Packets of padding behind each packet of the sound. */
  readonly padding: number
  /** The first time in ticks of 90 kHz. */
  readonly firstTicks: number
  /** Packets of the sound that are missing at the start and at the end, as in a recording. */
  readonly cutStart: number
  readonly cutEnd: number
}

export const [SOUND_PID, OTHER_SOUND_PID, PADDING_PID] = [0x101, 0x201, 0x1fff]
const [PICTURE_PID, PRIVATE_PID] = [0x100, 0x1f0]
const [PLAIN, WRAP] = [188, 2 ** 33]
const PADDING_PACKET = [0x47, 0x1f, 0xff, 0x10, ...Array.from({ length: 184 }, () => 0xff)]
const SAMPLES = { mp2: 1152, aac: 1024 }

/** Numbers that look random and follow from a seed. */
export function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1
  return (below) => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state % below
  }
}

/** A frame of 48 kHz in stereo, with a body that begins no other frame. @param kind tells old and new bodies apart */
function madeFrame(codec: 'mp2' | 'aac', bytes: number, next: (below: number) => number): Buffer {
  const frame = Buffer.from(Uint8Array.from({ length: bytes }, () => 1 + next(250)))
  if (codec === 'mp2') frame.set([0xff, 0xfd, 0xa4, 0x04])
  else {
    frame.set([0xff, 0xf1, 0x4c, 0x80 | (bytes >> 11), (bytes >> 3) & 255, ((bytes & 7) << 5) | 31, 0xfc])
  }
  return frame
}

export function madeFrames(codec: 'mp2' | 'aac', count: number, next: (below: number) => number): readonly Buffer[] {
  return Array.from({ length: count }, () => madeFrame(codec, codec === 'mp2' ? 576 : 60 + next(700), next))
}

/** Length of a frame in ticks of 90 kHz. */
export function frameTicks(codec: 'mp2' | 'aac'): number {
  return (SAMPLES[codec] * 90_000) / 48_000
}

function crcOf(section: Buffer): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(checksumOf(section, 0xffff_ffff))
  return sum
}

/** A section with its checksum. @param content behind its length */
function section(table: number, content: readonly number[]): Buffer {
  const length = content.length + 4
  const bytes = Buffer.from([table, 0xb0 | (length >> 8), length & 255, ...content])
  return Buffer.concat([bytes, crcOf(bytes)])
}

const wide = (value: number): readonly number[] => [value >> 8, value & 255]

function programsSection(programs: number): Buffer {
  const list = Array.from({ length: programs }, (_, place) => [...wide(place + 1), ...wide(0xe000 | pmtPid(place))])
  return section(0, [0, 1, 0xc1, 0, 0, ...list.flat()])
}

const pmtPid = (place: number) => 0x1000 + place

/** @param descriptors of the sound */
function streamsSection(place: number, codec: 'mp2' | 'aac', descriptors: readonly number[] = []): Buffer {
  const sound = place === 0 ? SOUND_PID : OTHER_SOUND_PID
  const entry = (type: number, pid: number, more: readonly number[]) => [
    type,
    ...wide(0xe000 | pid),
    ...wide(0xf000 | more.length),
    ...more,
  ]
  return section(2, [
    ...[...wide(place + 1), 0xc1, 0, 0, ...wide(0xe000 | PICTURE_PID), ...wide(0xf000)],
    ...(place === 0 ? entry(0x1b, PICTURE_PID, []) : []),
    ...entry(codec === 'mp2' ? 3 : 15, sound, [0x0a, 4, 0x65, 0x6e, 0x67, 0, ...descriptors]),
    ...(place === 0 ? entry(0x86, PRIVATE_PID, [0x8a, 1, 0]) : []),
  ])
}

interface PacketOptions {
  readonly starts?: boolean
  readonly clock?: number
  readonly priority?: boolean
  readonly stuffing?: number
}

/** Divides bytes into packets of a PID, with counters from its own row. */
class Packets {
  readonly #counters = new Map<number, number>()

  one(pid: number, payload: Buffer, { starts, clock, priority, stuffing = 0 }: PacketOptions = {}): Buffer {
    const hasClock = clock !== undefined
    const field = 184 - payload.length
    if (field < (hasClock ? 8 : 0)) throw new Error('too long')
    const last = this.#counters.get(pid) ?? 15
    const counter = payload.length > 0 ? (last + 1) & 15 : last
    this.#counters.set(pid, counter)
    const head = [0x47, (starts ? 0x40 : 0) | (priority ? 0x20 : 0) | (pid >> 8), pid & 255]
    const control = (field > 0 ? 0x20 : 0) | (payload.length > 0 ? 0x10 : 0) | counter
    const made = Buffer.from([...head, control, ...Array.from({ length: field }, () => 0xff), ...payload])
    if (field > 0) made[4] = field - 1
    if (field > 1) made[5] = hasClock ? 0x10 : stuffing % 2 === 1 ? 0x40 : 0
    if (hasClock) {
      const base = clock % WRAP
      made.writeUInt32BE(Math.floor(base / 2), 6)
      made.writeUInt16BE((base % 2) * 0x8000 + 0x7e00, 10)
    }
    return made
  }

  /** Room of a payload with these options. */
  static room({ clock, stuffing = 0 }: PacketOptions): number {
    return 184 - (clock !== undefined ? 8 : 0) - stuffing
  }
}

/** @param mark the bits that tell times of playing and of decoding apart */
function timeBytes(ticks: number, mark: number): readonly number[] {
  const time = ((ticks % WRAP) + WRAP) % WRAP
  const [high, middle, low] = [Math.floor(time / 2 ** 30), Math.floor(time / 2 ** 15) % 2 ** 15, time % 2 ** 15]
  return [(mark << 4) | 1 | (high << 1), ...wide((middle << 1) | 1), ...wide((low << 1) | 1)]
}

/** Units of a sound with the times of the first frame that begins in each. */
function unitsOf(form: TransportForm, frames: readonly Buffer[], next: (below: number) => number): readonly Buffer[] {
  const units: Buffer[] = []
  const add = (sound: Buffer, firstFrame: number | null) => {
    const ticks = firstFrame === null ? null : Math.round(form.firstTicks + firstFrame * frameTicks(form.codec))
    const spare = next(4)
    const both = (at: number) => [...timeBytes(at, 3), ...timeBytes(at, 1)]
    const times = ticks === null ? [] : form.statesDecoding ? both(ticks) : timeBytes(ticks, 2)
    const head = [
      0x84,
      ticks === null ? 0 : form.statesDecoding ? 0xc0 : 0x80,
      times.length + spare,
      ...times,
      ...Array.from({ length: spare }, () => 0xff),
    ]
    const length = form.statesLength ? head.length + sound.length : 0
    units.push(Buffer.concat([Buffer.from([0, 0, 1, 0xc0, ...wide(length), ...head]), sound]))
  }
  if ('frames' in form.unit) {
    for (let frame = 0; frame < frames.length; frame += form.unit.frames) {
      add(Buffer.concat(frames.slice(frame, frame + form.unit.frames)), frame)
    }
    return units
  }
  const sound = Buffer.concat(frames)
  const starts = frames.map((_, frame) => Buffer.concat(frames.slice(0, frame)).length)
  for (let at = 0; at < sound.length; at += form.unit.bytes) {
    const first = starts.findIndex((start) => start >= at)
    const begins = first >= 0 && (starts[first] as number) < at + form.unit.bytes
    add(sound.subarray(at, at + form.unit.bytes), begins ? first : null)
  }
  return units
}

/** A made transport stream. */
export interface MadeTransport {
  readonly bytes: Buffer
  readonly frames: readonly Buffer[]
}

export function madeTransport(form: TransportForm, descriptors: readonly number[] = []): MadeTransport {
  const next = numbers(form.seed)
  const packets = new Packets()
  const frames = madeFrames(form.codec, form.frames, next)
  const units = unitsOf(form, frames, next)
  const made: Buffer[] = []
  const sound: Buffer[] = []
  const tables = () => {
    made.push(packets.one(0, Buffer.concat([Buffer.of(0), programsSection(form.programs)]), { starts: true }))
    for (let place = 0; place < form.programs; place++) {
      const table = streamsSection(place, form.codec, place === 0 ? descriptors : [])
      made.push(packets.one(pmtPid(place), Buffer.concat([Buffer.of(0), table]), { starts: true }))
    }
  }
  const any = (pid: number) => {
    const payload = Buffer.from(Uint8Array.from({ length: 184 - (next(3) === 0 ? next(100) : 0) }, () => next(256)))
    made.push(packets.one(pid, payload))
  }
  const pushSound = (packet: Buffer) => {
    sound.push(packet)
    made.push(packet)
  }
  tables()
  for (const [place, unit] of units.entries()) {
    const clock = Math.max(0, form.firstTicks - 9000) + place * 2160
    if (form.clockOnSound && next(4) === 0) pushSound(packets.one(SOUND_PID, Buffer.alloc(0), { clock }))
    if (!form.clockOnSound) made.push(packets.one(PICTURE_PID, Buffer.alloc(100, 9), { clock }))
    const isUrgent = next(5) === 0
    for (let at = 0, first = true; at < unit.length; first = false) {
      const options = {
        starts: first,
        priority: isUrgent,
        ...(form.clockOnSound && first ? { clock } : {}),
        stuffing: next(6) === 0 ? next(20) : 0,
      }
      const length = Math.min(unit.length - at, Packets.room(options))
      pushSound(packets.one(SOUND_PID, unit.subarray(at, at + length), options))
      at += length
      for (let others = next(4); others > 0; others--) {
        any([PICTURE_PID, PRIVATE_PID, OTHER_SOUND_PID, 0x12, 0x999][next(5)] as number)
      }
      for (let more = form.padding; more > 0; more--) made.push(Buffer.from(PADDING_PACKET))
    }
    if (next(8) === 0) tables()
  }
  const gone = new Set([...sound.slice(0, form.cutStart), ...sound.slice(sound.length - form.cutEnd)])
  const left = made.filter((packet) => !gone.has(packet))
  const arrivals = left.map((packet, place) => {
    if (form.size === PLAIN) return packet
    const stamp = Buffer.alloc(4)
    stamp.writeUInt32BE(place * 1000 + 7)
    return Buffer.concat([stamp, packet])
  })
  return { bytes: Buffer.concat(arrivals), frames }
}
