import { type ChildBox, childrenIn } from '../probe/movie/child-boxes.js'

/** A sample of a movie: its place in the file, its length in ticks, and the sizes of the frames in it. */
export interface MovieSample {
  readonly at: number
  readonly ticks: number
  readonly frameBytes: readonly number[]
}

/** The samples that the tables of a track (`stbl`) state, each with a single frame. */
export function tabledSamples(tables: Buffer): readonly MovieSample[] {
  const boxes = new Map([...childrenIn(tables, 8, tables.length)].map((box) => [box.type, box]))
  const sizes = sampleSizes(tables, boxes.get('stsz'))
  const durations = [...numbers(tables, boxes.get('stts'))]
  const chunks = [...numbers(tables, boxes.get('stsc'))]
  const wide = boxes.has('co64')
  const places = [...numbers(tables, boxes.get(wide ? 'co64' : 'stco'))]
  const samples: MovieSample[] = []
  let [row, time, left] = [0, 0, durations[0] ?? 0]
  for (let chunk = 0; chunk < places.length / (wide ? 2 : 1); chunk += 1) {
    while ((chunks[3 * (row + 1)] ?? Number.POSITIVE_INFINITY) <= chunk + 1) row += 1
    let at = wide
      ? (places[2 * chunk] as number) * 2 ** 32 + (places[2 * chunk + 1] as number)
      : (places[chunk] as number)
    for (let count = chunks[3 * row + 1] ?? 0; count > 0 && samples.length < sizes.length; count -= 1) {
      while (left === 0 && time + 2 < durations.length) {
        time += 2
        left = durations[time] ?? 0
      }
      left -= 1
      const size = sizes[samples.length] as number
      samples.push({ at, ticks: durations[time + 1] ?? 0, frameBytes: [size] })
      at += size
    }
  }
  return samples
}

/** The numbers of a table behind its count. */
function* numbers(bytes: Buffer, box: ChildBox | undefined): Generator<number> {
  if (!box) return
  for (let at = box.bodyAt + 8; at + 4 <= box.endAt; at += 4) yield bytes.readUInt32BE(at)
}

/** Bytes of each sample; a table states one size for all, or a list. */
function sampleSizes(bytes: Buffer, box: ChildBox | undefined): readonly number[] {
  if (!box) return []
  const [all, count] = [bytes.readUInt32BE(box.bodyAt + 4), bytes.readUInt32BE(box.bodyAt + 8)]
  return all === 0 ? [...numbers(bytes, { ...box, bodyAt: box.bodyAt + 4 })] : new Array<number>(count).fill(all)
}

/**
 * Tables in which each frame is a sample, and each former sample a chunk.
 *
 * @param description the box `stsd`
 * @param laterBytes by which the file lies later than the places say
 */
export function frameTables(description: Buffer, samples: readonly MovieSample[], laterBytes: number): Buffer {
  const times = runs(
    samples.flatMap(({ ticks, frameBytes }) => frameBytes.map((_, frame) => shareOf(ticks, frameBytes.length, frame))),
  )
  let chunk = 1
  const chunks = runs(samples.map(({ frameBytes }) => frameBytes.length)).flatMap(([count, frames]) => {
    const row = [chunk, frames, 1]
    chunk += count
    return row
  })
  const sizes = samples.flatMap(({ frameBytes }) => frameBytes)
  const places = samples.flatMap(({ at }) => [Math.floor((at + laterBytes) / 2 ** 32), (at + laterBytes) % 2 ** 32])
  return boxOf('stbl', [
    description,
    table('stts', [times.length, ...times.flat()]),
    table('stsc', [chunks.length / 3, ...chunks]),
    table('stsz', [0, sizes.length, ...sizes]),
    table('co64', [places.length / 2, ...places]),
  ])
}

/** Ticks of a frame of several that share a time. */
function shareOf(ticks: number, count: number, frame: number): number {
  return Math.floor((ticks * (frame + 1)) / count) - Math.floor((ticks * frame) / count)
}

/** Equal numbers in a row, as their count and the number. */
function runs(values: readonly number[]): readonly (readonly [count: number, value: number])[] {
  const found: [number, number][] = []
  for (const value of values) {
    const last = found.at(-1)
    if (last?.[1] === value) last[0] += 1
    else found.push([1, value])
  }
  return found
}

function table(type: string, values: readonly number[]): Buffer {
  const body = Buffer.alloc(4 + 4 * values.length)
  values.forEach((value, place) => {
    body.writeUInt32BE(value, 4 + 4 * place)
  })
  return boxOf(type, [body])
}

/** A box of some contents. */
export function boxOf(type: string, contents: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(contents.reduce((sum, { length }) => sum + length, head.length))
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, ...contents])
}
