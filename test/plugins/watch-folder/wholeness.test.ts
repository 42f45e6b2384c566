import { execFileSync } from 'node:child_process'
import { appendFile, open, rename, utimes, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../plugins/watch-folder/candidates/candidates.js'
import { type FileFacts, fileFacts, isSameVersion } from '../../../plugins/watch-folder/candidates/file-facts.js'
import { fileKey, openWriters } from '../../../plugins/watch-folder/candidates/open-writers.js'
import { looksHollow } from '../../../plugins/watch-folder/candidates/wholeness.js'
import { contentId, isSampled } from '../../../plugins/watch-folder/intake/content-id.js'
import { fixture } from '../../helpers/job-bench.js'
import { folderOfEachTest } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfEachTest()

const clip = () => folder.file('clip.mov')
const noise = (bytes: number) => Buffer.alloc(bytes, 'not a zero among them ')

async function facts(path = clip()): Promise<FileFacts> {
  const found = await fileFacts(path)
  if (!found) throw new Error(`${path} is gone`)
  return found
}

describe('settle', () => {
  it.each<[string, () => Promise<unknown>, boolean]>([
    ['nothing', async () => {}, true],
    ['reading', async () => (await open(clip())).close(), true],
    ['a byte more', () => appendFile(clip(), 'x'), false],
    ['a touch', () => utimes(clip(), new Date(), new Date(0)), false],
    ['other bytes of the same time and length', () => rewrittenKeepingItsTimes(), false],
    ['a rename onto it', () => renamedOnto(), false],
  ])('after %s: unchanged is %s', async (_what, change, unchanged) => {
    await writeFile(clip(), noise(10_000))
    const first = settle(undefined, await facts(), 1000)
    // The clock of a file system ticks every few milliseconds.
    await sleep(20)
    await change()
    expect(settle(first, await facts(), 5000).unchangedSinceMs).toBe(unchanged ? 1000 : 5000)
  })

  it('counts a growing allocation as growth, and not a shrinking one', async () => {
    await writeFile(clip(), noise(10_000))
    const first = settle(undefined, await facts(), 1000)
    const allocated = (bytes: number) => ({ ...first.facts, allocatedBytes: first.facts.allocatedBytes + bytes })
    expect(settle(first, allocated(4096), 2000).unchangedSinceMs).toBe(2000)
    expect(settle(first, allocated(-4096), 2000).unchangedSinceMs).toBe(1000)
  })

  async function renamedOnto() {
    await writeFile(folder.file('new'), noise(10_000))
    await rename(folder.file('new'), clip())
  }

  async function rewrittenKeepingItsTimes() {
    const { mtimeNs } = await facts()
    await writeFile(clip(), noise(10_000).reverse())
    await utimes(clip(), Number(mtimeNs) / 1e9, Number(mtimeNs) / 1e9)
  }
})

describe('looksHollow', () => {
  const hollow = async (path = clip()) => looksHollow(path, await facts(path))

  it.each(['interview.mp4', 'speech.wav', 'timecode.mov', 'gap.mkv', 'speech.mp3'])('not %s', async (name) => {
    expect(await hollow(fixture(name))).toBe(false)
  })

  it('a file whose size is reserved and filled from the front, until its last page is there', async () => {
    execFileSync('fallocate', ['-l', '1000000', clip()])
    expect((await facts()).allocatedBytes).toBeGreaterThanOrEqual(1_000_000)
    const file = await open(clip(), 'r+')
    for (const share of [0.3, 0.9, 0.98]) {
      await file.write(noise(1_000_000 * share), 0, 1_000_000 * share, 0)
      expect(await hollow()).toBe(true)
    }
    await file.write(noise(1_000_000), 0, 1_000_000, 0)
    await file.close()
    expect(await hollow()).toBe(false)
  })

  it('a file with a hole in its middle, plain sound too', async () => {
    for (const path of [clip(), folder.file('clip.wav')]) {
      const file = await open(path, 'w')
      await file.write(noise(400_000), 0)
      await file.write(noise(400_000), 0, 400_000, 600_000)
      await file.close()
      expect(await hollow(path)).toBe(true)
    }
  })

  it('not the silence within plain sound', async () => {
    const path = folder.file('clip.wav')
    await writeFile(path, Buffer.concat([noise(100_000), Buffer.alloc(300_000), noise(100_000)]))
    expect(await hollow(path)).toBe(false)
  })
})

describe.skipIf(process.platform !== 'linux')('openWriters', () => {
  it('finds who can write to a file, and not who reads it', async () => {
    await writeFile(clip(), 'x')
    const key = fileKey(await facts())
    const find = async () => (await openWriters(new Set([key]))).get(key)
    const reader = await open(clip(), 'r')
    expect(await find()).toBeUndefined()
    const writer = await open(clip(), 'r+')
    expect(await find()).toMatchObject({ pid: process.pid, command: expect.stringMatching(/./) })
    await writer.close()
    expect(await find()).toBeUndefined()
    await reader.close()
  })
})

describe('contentId', () => {
  it('is the content’s, whatever name and times it has', async () => {
    await writeFile(clip(), noise(50_000))
    const before = await facts()
    const id = await contentId(clip())
    await utimes(clip(), 1, 1)
    await rename(clip(), folder.file('b.mov'))
    expect(await contentId(folder.file('b.mov'))).toBe(id)
    expect(isSameVersion(before, await facts(folder.file('b.mov')))).toBe(false)
    await appendFile(folder.file('b.mov'), 'x')
    expect(await contentId(folder.file('b.mov'))).not.toBe(id)
  })

  it.each([
    ['head', 10],
    ['tail', 20 * 1024 ** 2 - 10],
  ])('of a large file sees a change at its %s', async (_where, position) => {
    const sizeBytes = 20 * 1024 ** 2
    expect(isSampled(sizeBytes)).toBe(true)
    await writeFile(clip(), noise(sizeBytes))
    const id = await contentId(clip())
    const file = await open(clip(), 'r+')
    await file.write('changed', position)
    await file.close()
    expect(await contentId(clip())).not.toBe(id)
  })

  it('sees every byte of a small one', async () => {
    await writeFile(clip(), noise(5_000_000))
    const id = await contentId(clip())
    const file = await open(clip(), 'r+')
    await file.write('!', 3_333_333)
    await file.close()
    expect(await contentId(clip())).not.toBe(id)
  })
})
