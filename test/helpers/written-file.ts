import { readFile, rm } from 'node:fs/promises'
import { expect } from 'vitest'
import { unreadable } from '../../src/media/ffmpeg/ffmpeg-failure.js'
import { audioStreams } from '../../src/media/index.js'
import { decodePcm } from '../../src/media/pcm/decode-pcm.js'
import type { PcmStream } from '../../src/media/pcm/pcm.js'
import { valuesOf } from '../../src/media/pcm/pcm-samples.js'
import { probe } from '../../src/media/probe/probe.js'
import { type MuxVerification, verifyMux } from '../../src/media/verify/verify-mux.js'
import { type PlanOutputOptions, planOutput } from '../../src/media/write/plan-writing.js'
import { writeOutput } from '../../src/media/write/write-output.js'

/** A sound at half its level: nothing of it is the same bytes, and all of it is at the same place. */
function halved(voice: PcmStream): PcmStream {
  return {
    ...voice,
    async *buffers() {
      for await (const buffer of voice.buffers()) {
        const copy = Buffer.from(buffer)
        const values = valuesOf(copy, voice.format.sample)
        for (let at = 0; at < values.length; at++) values[at] = (values[at] as number) / 2
        yield copy
      }
    },
  }
}

/** Plans, writes and verifies a file with its first sound (or those of `replaced`) at half its level. */
export async function writtenFile(path: string, options: Partial<PlanOutputOptions> = {}) {
  const media = await probe(path)
  const replaced = options.replaced ?? [0]
  // A job refuses it with -7 before it plans.
  const unknown = replaced.find((index) => audioStreams(media)[index]?.codec === null)
  if (unknown !== undefined) throw unreadable(`audio track ${unknown} of ${path} has no known decoder`, { input: path })
  const plan = await planOutput(media, { ...options, replaced })
  const part = `${path}.part`
  await rm(part, { force: true })
  const voices = new Map(replaced.map((audioIndex) => [audioIndex, halved(decodePcm(media, { audioIndex }))]))
  const result = await writeOutput(plan, voices, part)
  // The cut of a job refuses such a file before anything is sent.
  if (result.voices.some(({ sampleCount }) => sampleCount === 0)) {
    throw unreadable(`${path} holds no sound that can be decoded`, { input: path })
  }
  const verified = await verifyMux(plan, result, part, { level: 'full' })
  return { media, plan, part, result, verified }
}

/** The writer that took a plan, and its census; fails the test if that was the remux. */
export function bytesWriting({ writing }: Awaited<ReturnType<typeof planOutput>>) {
  if (writing.kind === 'bytes') return { ...writing, census: [...writing.census] }
  throw new Error(`The remux took it: ${writing.declined.map(({ reason }) => reason).join('; ') || 'nobody was asked'}`)
}

/** Paths of the structures that are not the same bytes at the same place in two files of one size. */
export async function changedStructures(
  before: string,
  after: string,
  census: readonly { readonly path: string; readonly start: number; readonly length: number }[],
): Promise<readonly string[]> {
  const [one, other] = await Promise.all([readFile(before), readFile(after)])
  if (one.length !== other.length) throw new Error(`${other.length} bytes instead of ${one.length}`)
  return census.flatMap(({ path, start, length }) =>
    one.subarray(start, start + length).equals(other.subarray(start, start + length)) ? [] : [path],
  )
}

/** Offsets of the first new track at its start, middle and end, in samples; null for silence. Not all of it may be silent. */
export function syncOffsets({ sync }: Pick<MuxVerification, 'sync'>): readonly (number | null)[] {
  const offsets = (sync[0]?.places ?? []).map(({ offsetSamples }) => offsetSamples)
  expect(offsets).toHaveLength(3)
  expect(offsets.some((offset) => offset !== null)).toBe(true)
  return offsets
}
