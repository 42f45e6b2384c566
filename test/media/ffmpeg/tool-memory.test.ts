import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { findFfprobe, forgetBinaries } from '../../../src/media/ffmpeg/binaries.js'
import { keepToolFactsIn } from '../../../src/media/ffmpeg/tool-memory.js'
import { encoderPriming } from '../../../src/media/write/encode/encoder-priming.js'
import { type TestFolder, testFolder } from '../../helpers/media-factory.js'

const AAC = { codec: 'aac', encoder: 'aac', lossless: false, bitRate: 96_000, options: ['-b:{s}', '96000'] }
const MP3 = { ...AAC, codec: 'mp3', encoder: 'libmp3lame' }
const withRate = (encoding: typeof AAC, rate: string) => {
  return { ...encoding, bitRate: Number(rate), options: ['-b:{s}', rate] }
}

describe.skipIf(process.platform === 'win32')('what is known of the tools (not on Windows)', () => {
  let folder: TestFolder
  const chosen = process.env.VOXMUX_FFPROBE
  beforeAll(async () => {
    folder = await testFolder()
    process.env.VOXMUX_FFPROBE = folder.file('ffprobe')
    await tool('5.1.9')
  })
  afterEach(forgetBinaries)
  afterAll(async () => {
    if (chosen === undefined) delete process.env.VOXMUX_FFPROBE
    else process.env.VOXMUX_FFPROBE = chosen
    await folder.remove()
  })

  /** An ffprobe that counts its starts. */
  const tool = (version: string) =>
    writeFile(
      folder.file('ffprobe'),
      `#!/bin/sh\necho >> ${folder.file('starts')}\necho "ffprobe version ${version}"\necho "libavutil 59. 1.100 / 59. 1.100"\n`,
      { mode: 0o755 },
    )
  const starts = async () => (await readFile(folder.file('starts'), 'utf8')).length
  /** As another process, which knows nothing yet, would find it. */
  const inNewProcess = () => {
    forgetBinaries()
    keepToolFactsIn(folder.path)
    return findFfprobe()
  }

  it('is found once, and again when the tool changes or the memory is unreadable', async () => {
    expect((await inNewProcess()).version).toBe('5.1.9')
    expect((await inNewProcess()).version).toBe('5.1.9')
    expect(await starts()).toBe(1)

    await tool('7.1 (newer)')
    expect((await inNewProcess()).version).toBe('7.1')
    expect(await starts()).toBe(2)

    await writeFile(folder.file('tools.json'), '{"broken')
    expect((await inNewProcess()).version).toBe('7.1')
    expect((await inNewProcess()).version).toBe('7.1')
    expect(await starts()).toBe(3)
  })

  it('removes what a killed process left beside the memory, and not what another process is writing', async () => {
    const [left, others] = [folder.file('tools.json.left'), folder.file('tools.json.others')]
    for (const path of [left, others]) await writeFile(path, '{')
    await utimes(left, 1, 1)
    await tool('8.0')
    await inNewProcess()
    expect((await readdir(folder.path)).filter((name) => name.startsWith('tools.json.'))).toEqual(['tools.json.others'])
  })

  it('does not hide a tool that stopped working', async () => {
    await inNewProcess()
    await writeFile(folder.file('ffprobe'), '#!/bin/sh\nexit 1\n')
    await expect(inNewProcess()).rejects.toMatchObject({ code: 'ERR_FFMPEG_MISSING' })
  })

  it('includes what was measured of an encoder, of AAC for all bit rates together', async () => {
    await tool('5.1.9')
    await inNewProcess()
    const feed = { sampleRate: 48_000, channels: 2 }
    const measured = async () =>
      Object.entries(JSON.parse(await readFile(folder.file('tools.json'), 'utf8')) as object).flatMap(([key, fact]) =>
        key.includes('encoder') ? [fact] : [],
      )
    expect(await encoderPriming(AAC, feed)).toBe(1024)
    expect(await measured()).toEqual([1024])
    for (const rate of ['8000', '128308', '9000000']) expect(await encoderPriming(withRate(AAC, rate), feed)).toBe(1024)
    expect(await measured()).toEqual([1024])
    for (const rate of ['96000', '128000']) await encoderPriming(withRate(MP3, rate), feed)
    expect(await measured()).toEqual([1024, 1105, 1105])
  })
})
