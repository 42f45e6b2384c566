import { open } from 'node:fs/promises'
import { MalformedFile } from '../../../probe/malformed-file.js'
import { type Box, childBoxes } from '../../../probe/movie/box.js'
import { shownEdits } from '../../../probe/movie/edits.js'
import { durationRuns, type SampleSizes, sampleSizes, trackChunks } from '../../../probe/movie/sample-table.js'
import { firstAtLeast } from '../../first-at-least.js'
import { readMovie, type Track } from './movie.js'
import { readStructure } from './read-structure.js'
import type { SampleEntry } from './sample-entry.js'

/** The packets of a newly encoded voice, in a side file. */
export interface DonorTrack {
  readonly entry: SampleEntry
  /** Ticks per second; usually the sample rate. */
  readonly timeScale: number
  /** Ticks of the encoder's priming, which players skip. */
  readonly primingTicks: number
  readonly packets: Packets
  /** True if they are the packets of the old track, some of them replaced: all its times stay. */
  readonly isSplice: boolean
  /** `sgpd` and `sbgp`: how many packets a decoder needs before its output is right. */
  readonly rollGroups: readonly Buffer[]
}

/** Packets by place, from 0. All places from 0 to `count` included have a tick and an offset: the last is the end. */
export interface Packets {
  readonly count: number
  /** One size for all packets of PCM, else one per packet. */
  readonly sizes: SampleSizes
  readonly tickOf: (packet: number) => number
  /** Offset in the side file. */
  readonly offsetOf: (packet: number) => number
  /** The first packet that begins at a tick or later. */
  readonly firstFrom: (tick: number) => number
}

/**
 * Reads the places of the packets of a side file. ffmpeg writes them without gaps.
 *
 * @throws MalformedFile if the side file has another structure
 */
export async function readDonorTrack(path: string): Promise<DonorTrack> {
  await using file = await open(path, 'r')
  const { size } = await file.stat()
  const { boxes } = await readStructure(file, size)
  const moov = boxes.find(({ type }) => type === 'moov')
  const track = moov && readMovie(moov).tracks[0]
  const entry = track?.entries[0]
  if (!track || !entry) throw new MalformedFile('it has no track')
  return donorOf(track, entry)
}

function donorOf(track: Track, entry: SampleEntry): DonorTrack {
  const chunks = [...trackChunks(track.stbl, null)]
  const isContiguous = chunks.every((chunk, place) => {
    const before = chunks[place - 1]
    return !before || before.start + before.bytes === chunk.start
  })
  const sizes = sampleSizes(track.stbl)
  const [first] = chunks
  if (!sizes || !first || !isContiguous) throw new MalformedFile('its packets are not contiguous')
  const [edit] = shownEdits(track.edits)
  return {
    entry,
    timeScale: track.timeScale,
    primingTicks: edit?.mediaTick ?? 0,
    packets:
      sizes.kind === 'uniform' ? uniformPackets(track, sizes, first.start) : eachPacket(track, sizes, first.start),
    rollGroups: rollGroups(track.stbl),
    isSplice: false,
  }
}

/** Packets of one size and one duration, as in PCM: needs no memory per packet. */
function uniformPackets(track: Track, sizes: SampleSizes & { readonly kind: 'uniform' }, start: number): Packets {
  const [run, ...others] = durationRuns(track.stbl)
  if (!run || others.length > 0) return eachPacket(track, spelledOut(sizes), start)
  return {
    count: sizes.count,
    sizes,
    tickOf: (packet) => packet * run.ticks,
    offsetOf: (packet) => start + packet * sizes.bytes,
    firstFrom: (tick) => Math.min(sizes.count, Math.max(0, Math.ceil(tick / Math.max(1, run.ticks)))),
  }
}

function spelledOut({
  count,
  bytes,
}: SampleSizes & { readonly kind: 'uniform' }): SampleSizes & { readonly kind: 'each' } {
  return { kind: 'each', bytes: new Uint32Array(count).fill(bytes) }
}

function eachPacket(track: Track, sizes: SampleSizes & { readonly kind: 'each' }, start: number): Packets {
  const count = sizes.bytes.length
  const ticks = new Float64Array(count + 1)
  const offsets = new Float64Array(count + 1)
  let packet = 0
  for (const run of durationRuns(track.stbl)) {
    for (let left = run.count; left > 0 && packet < count; left--, packet++) {
      ticks[packet + 1] = (ticks[packet] as number) + run.ticks
    }
  }
  if (packet < count) throw new MalformedFile('its packets have no durations')
  offsets[0] = start
  for (let place = 0; place < count; place++) {
    offsets[place + 1] = (offsets[place] as number) + (sizes.bytes[place] as number)
  }
  return {
    count,
    sizes,
    tickOf: (place) => ticks[place] as number,
    offsetOf: (place) => offsets[place] as number,
    firstFrom: (tick) => firstAtLeast(count, (place) => ticks[place] as number, tick),
  }
}

function rollGroups(stbl: Box | undefined): readonly Buffer[] {
  const boxes = [...childBoxes(stbl, 'sgpd'), ...childBoxes(stbl, 'sbgp')]
  return boxes.flatMap(({ bytes }) => bytes ?? [])
}
