import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { expect } from 'vitest'
import type { AudioStreamInfo, MediaInfo } from '../../../../src/media/media-info.js'
import { aviPlaces } from '../../../../src/media/verify/places/avi-places.js'
import { misledIndices } from '../../../../src/media/verify/places/stated-place.js'
import { aviSound } from '../../../../src/media/write/avi/avi.js'
import { censusFaults } from '../../../../src/media/write/census.js'
import { copyPlan } from '../../../../src/media/write/copy-plan.js'
import type { TestFolder } from '../../../helpers/media-factory.js'
import { aviFile, list, type MadeChunk, streamList } from './made-avi.js'

function sideOf(fresh: readonly Buffer[]): Buffer {
  const hdrl = list('hdrl', [{ id: 'avih', body: Buffer.alloc(56) }, streamList('auds', 9, Buffer.alloc(30, 2), [])])
  const data = fresh.map((body): MadeChunk => ({ id: '00wb', body }))
  return aviFile([hdrl, list('movi', data)], { indexFrom: 'list', trailing: Buffer.alloc(0) })
}

/** New packets for the sounds of an AVI whose streams are a picture, two sounds and subtitles. */
interface NewSound {
  /** Places among the sounds of those that are replaced. */
  readonly voices: readonly number[]
  /** Packets of each sound. */
  readonly fresh: readonly (readonly Buffer[])[]
  /** Streams that ffmpeg reads, if it is not each of them. */
  readonly streamCount?: number
}

/** Gives an AVI new sound by the writer, and expects a census of every byte and indices that lead as before. @returns the output */
export async function replaceSound(
  folder: TestFolder,
  input: Buffer,
  { voices, fresh, streamCount = 4 }: NewSound,
): Promise<Buffer> {
  const [path, target] = [folder.file('made.avi'), folder.file('out.avi')]
  await writeFile(path, input)
  const sides = voices.map((voice) => folder.file(`side-${voice}.avi`))
  for (const [place, side] of sides.entries()) {
    await writeFile(side, sideOf(fresh[voices[place] ?? 0] ?? []))
  }
  const media = { path, sizeBytes: input.length, formatName: 'avi', durationSec: 1, streams: Array(streamCount) }
  const encoding = { codec: 'mp3', encoder: 'libmp3lame', lossless: false, bitRate: 1, options: [] }
  const tracks = voices.map((voice) => {
    const stream = { index: voice + 1, audioIndex: voice, sampleRate: 48_000 } as unknown as AudioStreamInfo
    return { input: stream, encoding, channels: 1 }
  })
  const wanted = { media: media as unknown as MediaInfo, tracks }
  const parsed = await aviSound.parse(wanted.media)
  if (parsed === null || typeof parsed === 'string') throw new Error(`not parsed: ${parsed}`)
  const survey = aviSound.survey(parsed, wanted)
  if (survey.kind === 'declines') throw new Error(survey.reason)
  expect(censusFaults(survey.census, input.length)).toEqual([])
  const donors = []
  for (const [place, track] of tracks.entries()) {
    donors.push(await aviSound.readDonor(sides[place] ?? '', track, undefined, parsed))
  }
  await copyPlan(aviSound.layOut(parsed, wanted, donors), target, { input: path, donors: sides })
  const output = await readFile(target)
  const replaced = new Set(voices)
  const misled = misledIndices(await placesIn(path, replaced), await placesIn(target, replaced))
  // Also before a failure, which is tried again with less.
  await Promise.all([rm(target), ...sides.map((side) => rm(side))])
  expect(misled).toEqual([])
  return output
}

async function placesIn(path: string, replaced: ReadonlySet<number>) {
  await using file = await open(path)
  return await aviPlaces(file, replaced)
}
