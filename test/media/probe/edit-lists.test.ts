import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { decodePcm } from '../../../src/media/pcm/decode-pcm.js'
import { probe } from '../../../src/media/probe/probe.js'
import { planOutput } from '../../../src/media/write/plan-writing.js'
import { compareTracks } from '../../../src/pipeline/report/comparison.js'
import { ffmpeg, ffmpegOutput, ffprobeJson, picture, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { writtenFile } from '../../helpers/written-file.js'
import { box, replaceBoxes } from '../movie-boxes.js'
import { replaceVoice } from '../zoo/zoo-run.js'

describe('what a movie file can say of itself', () => {
  const folder = folderOfTests()
  let movie: Buffer
  beforeAll(async () => {
    const ticks = ['-movie_timescale', '1000']
    await ffmpeg(...picture(1), ...tone(1), '-c:v', 'mpeg4', '-c:a', 'pcm_s16le', ...ticks, folder.file('plain.mov'))
    movie = await readFile(folder.file('plain.mov'))
  })

  /** Gives both tracks, or only the pictures, an edit list. */
  async function withEdits(name: string, edits: Edits, whose: 'both' | 'pictures' = 'both'): Promise<string> {
    const lists = [listOf(12_800, edits), whose === 'both' ? listOf(48_000, edits) : listOf(48_000, [[1000, 0, 1]])]
    await writeFile(
      folder.file(name),
      replaceBoxes(movie, 'elst', () => lists.shift() as Buffer),
    )
    return folder.file(name)
  }

  it.each([
    [
      'several parts',
      [
        [500, 0, 1],
        [500, 0, 1],
      ],
      /put together from 2 parts/,
    ],
    [
      'a hole in the middle',
      [
        [300, 0, 1],
        [200, -1, 1],
        [500, 0.3, 1],
      ],
      /hole in the middle/,
    ],
    ['half the speed', [[1000, 0, 0.5]], /another speed/],
    [
      'an empty end',
      [
        [800, 0, 1],
        [200, -1, 1],
      ],
      /ends with an empty part/,
    ],
    [
      'a part left out',
      [
        [480, 0, 1],
        [480, 0.52, 1],
      ],
      /put together from 2 parts/,
    ],
  ] as const)('refuses an edit list of %s before anything is sent', async (what, edits, said) => {
    const path = await withEdits(`${what}.mov`, edits)
    await expect(probe(path)).rejects.toMatchObject({ code: 'ERR_EDIT_LIST', exitCode: 5, message: said })
  })

  it.each([
    ['half a picture', [[980, 0.02, 1]], 'begins between two pictures'],
    [
      'pictures in another order',
      [
        [480, 0.52, 1],
        [480, 0, 1],
      ],
      'is put together from 2 parts',
    ],
  ] as const)('keeps %s in the file itself, and refuses another container', async (what, edits, why) => {
    const path = await withEdits(`${what}.mov`, [...edits], 'pictures')
    const { part, plan, verified } = await writtenFile(path)
    expect(plan.writing.kind).toBe('bytes')
    expect(verified.sync[0]?.places.every(({ offsetSamples }) => offsetSamples === 0)).toBe(true)
    expect((await readFile(part)).includes(listOf(12_800, edits))).toBe(true)
    const media = await probe(path)
    expect(media.editedPictures).toBe(why)
    await expect(planOutput(media, { replaced: [0], container: 'mkv' })).rejects.toMatchObject({
      code: 'ERR_EDIT_LIST',
    })
  })

  it.each([
    ['a late start', [[200, -1, 1]]],
    [
      'a late start in two parts',
      [
        [80, -1, 1],
        [120, -1, 1],
      ],
    ],
  ] as const)('takes %s', async (what, late) => {
    const media = await probe(await withEdits(`${what}.mov`, [...late, [1000, 0, 1]]))
    expect(media.streams.map(({ startSec }) => startSec)).toEqual([0.2, 0.2])
  })

  it('keeps the original of late sound with priming beside the new one', async () => {
    const source = folder.file('priming.mp4')
    const ticks = ['-movie_timescale', '1000']
    await ffmpeg(...picture(2), ...tone(2), '-c:v', 'mpeg4', '-c:a', 'aac', ...ticks, source)
    const late: Edits = [
      [500, -1, 1],
      [1500, 1024 / 48_000, 1],
    ]
    const lists = [listOf(12_800, [[2000, 0, 1]]), listOf(48_000, late)]
    const path = folder.file('late-priming.mp4')
    await writeFile(
      path,
      replaceBoxes(await readFile(source), 'elst', () => lists.shift() as Buffer),
    )
    const { part } = await writtenFile(path, { keepOriginal: true })
    expect((await probe(part)).streams.filter(({ kind }) => kind === 'audio')).toHaveLength(2)
  })

  it.each([
    [
      'several edits that together are one',
      [
        [480, 0, 1],
        [480, 0.48, 1],
        [40, 0.96, 1],
      ],
    ],
    ['one edit without a length', [[0, 0, 1]]],
  ] as const)('takes %s, and keeps every sample and picture', async (what, edits) => {
    const path = await withEdits(`${what}.mov`, edits)
    const { output } = await replaceVoice(path, folder.file(`${what}.out.mov`))
    const asWhole = ['-advanced_editlist', '0']
    const heard = (file: string) => ffmpegOutput(...asWhole, '-i', file, '-map', '0:a', '-f', 's16le', 'pipe:1')
    expect((await heard(output)).equals(await heard(folder.file('plain.mov')))).toBe(true)
    const seen = async (file: string) => {
      const show = [
        ...asWhole,
        '-select_streams',
        'v',
        '-show_entries',
        'packet=pts_time,size',
        '-show_data_hash',
        'md5',
      ]
      return (await ffprobeJson(file, ...show, '-show_packets')).packets
    }
    const facts = (packets: unknown) =>
      (packets as Record<string, string>[]).map(({ pts_time, size, data_hash }) => [pts_time, size, data_hash])
    expect(facts(await seen(output))).toEqual(facts(await seen(folder.file('plain.mov'))))
  })

  it('is read for the page of a report as it is for everything else', async () => {
    const path = await withEdits('compared.mov', [[700, 0.3, 1]])
    const readOptions = ['-ignore_editlist', '1']
    const kept = { index: 1, outputIndex: 1, kind: 'audio', codec: null, fate: 'replaced', packetHash: null } as const
    const [compared] = await compareTracks(
      { streams: [{ ...kept, reason: null }], segments: [], voices: [] },
      {
        ...{ before: { path, readOptions }, after: { path: folder.file('plain.mov') }, durationSec: 1 },
        ...{ workFolder: folder.path, signal: new AbortController().signal },
      },
    )
    const [before, after] = await Promise.all(
      [compared?.before, compared?.after].map((side) => ffmpegOutput('-i', side?.audio ?? '', '-f', 's16le', 'pipe:1')),
    )
    expect(before?.length).toBeGreaterThan(0)
    expect(before?.equals(after ?? Buffer.alloc(0))).toBe(true)
  })

  it('opens nothing that a track refers to', async () => {
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await ffmpeg(...tone(1, 44_100), '-c:a', 'pcm_s16le', folder.file('neighbour.mov'))
    const own = await ffmpegOutput('-i', folder.file('plain.mov'), '-map', '0:a', '-f', 's16le', 'pipe:1')
    for (const [name, reference] of [
      ['url.mov', box('url ', Buffer.concat([Buffer.alloc(4), Buffer.from(`http://127.0.0.1:${port}/voice.mov\0`)]))],
      ['alias.mov', alias('neighbour.mov', folder.file('neighbour.mov'))],
    ] as const) {
      const path = folder.file(name)
      const entries = Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), reference])
      await writeFile(
        path,
        replaceBoxes(movie, 'dref', () => box('dref', entries)),
      )
      const bytes = await decoded(path)
      // A typed refusal, no sound at all, or what lies in the file itself: never what lies next to it.
      if (bytes?.length) expect(bytes.equals(own)).toBe(true)
    }
    server.close()
    expect(asked).toEqual([])
  })

  async function decoded(path: string): Promise<Buffer | undefined> {
    const buffers: Buffer[] = []
    try {
      for await (const buffer of decodePcm(await probe(path), { audioIndex: 0 }).buffers()) buffers.push(buffer)
      return Buffer.concat(buffers)
    } catch (error) {
      expect(error).toMatchObject({ code: expect.stringMatching(/^ERR_/) })
      return undefined
    }
  }
})

/** Edits of `[duration in ms, seconds into the track or -1, rate]`. */
type Edits = readonly (readonly [number, number, number])[]

/** An edit list in a track of so many ticks a second, in a movie of 1000. */
function listOf(ticksPerSec: number, edits: Edits): Buffer {
  const list = Buffer.alloc(8 + 12 * edits.length)
  list.writeUInt32BE(edits.length, 4)
  edits.forEach(([duration, startSec, rate], place) => {
    list.writeUInt32BE(duration, 8 + 12 * place)
    list.writeInt32BE(startSec < 0 ? -1 : startSec * ticksPerSec, 12 + 12 * place)
    list.writeInt32BE(Math.round(rate * 65_536), 16 + 12 * place)
  })
  return box('elst', list)
}

/** A Macintosh alias record, as QuickTime writes it: file name, and the absolute path behind it. */
function alias(name: string, path: string): Buffer {
  const record = Buffer.alloc(150)
  record.writeUInt8(name.length, 50)
  record.write(name, 51, 'latin1')
  record.writeInt16BE(1, 130)
  record.writeInt16BE(1, 132)
  const item = Buffer.alloc(4 + path.length + (path.length & 1))
  item.writeInt16BE(2, 0)
  item.writeInt16BE(path.length, 2)
  item.write(path, 4, 'latin1')
  return box('alis', Buffer.concat([Buffer.alloc(4), record, item, Buffer.from([255, 255, 0, 0])]))
}
