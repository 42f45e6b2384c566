import { readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { audioStreams } from '../../../src/media/media-info.js'
import { probe } from '../../../src/media/probe/probe.js'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

describe('probe', () => {
  const folder = folderOfTests()

  it('believes no length below zero', async () => {
    const path = folder.file('negative.mkv')
    await ffmpeg(...tone(1), '-c:a', 'flac', path)
    const bytes = await readFile(path)
    bytes.writeDoubleBE(-1000, bytes.indexOf(Buffer.from([0x44, 0x89, 0x88])) + 3)
    await writeFile(path, bytes)
    expect(await probe(path)).toMatchObject({ durationSec: null, streams: [{ durationSec: null }] })
  })

  it('sees that a FLAC file with a damaged first frame is cut', async () => {
    const path = folder.file('cut.flac')
    await ffmpeg(...tone(4), '-c:a', 'flac', path)
    const bytes = await readFile(path)
    const first = bytes.indexOf(Buffer.from([0xff, 0xf8]))
    bytes.fill(0, first, first + 4)
    await writeFile(path, bytes.subarray(0, first + (bytes.length - first) / 2))
    await expect(probe(path)).rejects.toThrow(/is truncated: its last \d\.\d+ s are missing/)
  })

  it('believes the last frame of a FLAC file more than a wrong number of samples', async () => {
    const path = folder.file('wrong.flac')
    await ffmpeg(...tone(4), '-c:a', 'flac', path)
    const bytes = await readFile(path)
    // STREAMINFO begins at byte 8: the least size of a block, and behind 14 bytes, the lower 32 bits of the number.
    const samples = bytes.readUInt32BE(22)
    for (const [number, cutBytes, end] of [
      [2 * samples, 0, 'whole'],
      [2 * samples, 1, 'cut'],
      [samples, bytes.length / 2, 'cut'],
    ] as const) {
      bytes.writeUInt32BE(number, 22)
      await writeFile(path, bytes.subarray(0, bytes.length - cutBytes))
      const answer = await probe(path).then(
        () => 'whole',
        ({ message }: Error) => (message.includes('is truncated') ? 'cut' : message),
      )
      expect([number, cutBytes, answer]).toEqual([number, cutBytes, end])
    }
  })

  it('reads the size of blocks from a FLAC frame, not from STREAMINFO', async () => {
    const path = folder.file('blocks.flac')
    await ffmpeg(...tone(4), '-c:a', 'flac', path)
    const bytes = await readFile(path)
    bytes.writeUInt16BE(bytes.readUInt16BE(8) / 4, 8)
    await writeFile(path, bytes.subarray(0, bytes.length - 1))
    // The last frame is cut, but its header is there.
    await expect(probe(path)).resolves.toMatchObject({ container: 'flac' })
  })

  it('takes an MP3 that an editor cut, and whose header it left as it was', async () => {
    const path = folder.file('edited.mp3')
    await ffmpeg(...tone(4), path)
    const bytes = await readFile(path)
    const cut = bytes.subarray(0, Math.round(bytes.length / 2))
    await writeFile(path, cut)
    await expect(probe(path)).rejects.toThrow(/is truncated: its last \d\.\d+ s are missing/)
    await writeFile(path, Buffer.concat([cut, Buffer.from('TAG'.padEnd(128))]))
    await expect(probe(path)).resolves.toMatchObject({ container: 'mp3' })
  })

  it.each(['wv', 'tta'])('sees that a %s file is cut, and that a tag follows a whole one', async (extension) => {
    const [whole, cut] = [folder.file(`whole.${extension}`), folder.file(`cut.${extension}`)]
    await ffmpeg(...tone(4), whole)
    const bytes = await readFile(whole)
    await writeFile(cut, bytes.subarray(0, Math.round(bytes.length * 0.6)))
    await expect(probe(cut)).rejects.toThrow(/is truncated: its last \d+ (samples|bytes) are missing/)
    expect(await probe(whole)).toMatchObject({ container: extension })
    await writeFile(whole, Buffer.concat([bytes, Buffer.from('TAG'.padEnd(128))]))
    expect(await probe(whole)).toMatchObject({ container: extension })
  })

  it('marks the sound of a movie whose index times only half of its packets', async () => {
    const path = folder.file('untimed.mp4')
    // The last packet is shorter, so that the index has a second entry.
    await ffmpeg(...tone(4.005), ...tone(4.005), '-map', '0', '-map', '1', '-c:a', 'aac', path)
    const marks = async () => audioStreams(await probe(path)).map(({ isUntimed }) => isUntimed)
    expect(await marks()).toEqual([undefined, undefined])
    const bytes = await readFile(path)
    const countAt = bytes.indexOf('stts') + 12
    bytes.writeUInt32BE(Math.floor(bytes.readUInt32BE(countAt) / 2), countAt)
    await writeFile(path, bytes)
    expect(await marks()).toEqual([true, undefined])
  })

  it('takes a length of zero in a movie for an unknown one', async () => {
    const path = folder.file('zero.mp4')
    await ffmpeg(...tone(1), '-c:a', 'aac', path)
    const bytes = await readFile(path)
    // Behind the type: version and flags, two dates, then the time scale (or the track and a reserved field).
    for (const [type, lengthAt] of Object.entries({ mvhd: 20, mdhd: 20, tkhd: 24 }))
      bytes.writeUInt32BE(0, bytes.indexOf(type) + lengthAt)
    await writeFile(path, bytes)
    expect(await probe(path)).toMatchObject({ durationSec: null, streams: [{ durationSec: null }] })
  })
})
