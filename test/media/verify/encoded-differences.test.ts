import { readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { verifyMux } from '../../../src/media/verify/verify-mux.js'
import { ffmpeg, ffprobeJson, picture, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, writtenFile } from '../../helpers/written-file.js'

interface Packet {
  readonly pos: number
  readonly size: number
}

const FILM = [...picture(4), ...tone(4, 48_000, 2), '-shortest', '-c:v', 'mpeg4']
const SOUND = tone(4, 48_000, 2)
const FRAGMENTS = ['-movflags', 'frag_keyframe+empty_moov', '-g', '10']

describe('the packets of a new sound', () => {
  const folder = folderOfTests()

  /** Writes a file, and damages its sound far from the places at which the sound itself is compared. */
  async function damaged(name: string, made: readonly string[], damage: (bytes: Buffer, packet: Packet) => Buffer) {
    const path = folder.file(name)
    await ffmpeg(...made, path)
    const { plan, result, part, verified } = await writtenFile(path)
    const { packets } = await ffprobeJson(part, '-select_streams', 'a:0', '-show_entries', 'packet=pos,size')
    const read = (packets as { pos: string; size: string }[]).map(({ pos, size }) => ({ pos: +pos, size: +size }))
    // Only the first frame of a PES has a place.
    const list = read.filter(({ pos }) => !Number.isNaN(pos))
    const packet = list[list.length >> 2] as Packet
    await writeFile(part, damage(await readFile(part), packet))
    return { plan, verified, path, verify: () => verifyMux(plan, result, part, { level: 'full' }) }
  }

  it.each([
    ['iso-bmff', 'film.mp4', [...FILM, '-c:a', 'aac']],
    ['iso-bmff', 'fragments.mp4', [...FILM, '-c:a', 'aac', ...FRAGMENTS]],
    ['matroska', 'film.mkv', [...FILM, '-c:a', 'ac3']],
    ['avi', 'film.avi', [...FILM, '-c:a', 'libmp3lame']],
    ['chunks', 'sound.caf', [...SOUND, '-c:a', 'alac']],
    ['frames', 'sound.mp3', [...SOUND, '-c:a', 'libmp3lame']],
    ['frames', 'sound.ogg', [...SOUND, '-c:a', 'libvorbis']],
    ['transport', 'film.ts', [...FILM, '-c:v', 'mpeg2video', '-c:a', 'mp2']],
  ])('must be those of the encoder (%s, %s)', async (writer, name, made) => {
    const { plan, verified, verify } = await damaged(name, made, (bytes, { pos, size }) => {
      const at = pos + Math.min(100, size - 2)
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
      return bytes
    })
    expect(bytesWriting(plan).writer).toBe(writer)
    expect(verified.checks).toContain('packets of the new audio')
    await expect(verify()).rejects.toMatchObject({ code: 'ERR_VERIFY_FAILED', exitCode: 7 })
  })

  it('must stand there once', async () => {
    const { verify } = await damaged('beside.aac', [...SOUND, '-c:a', 'aac', '-b:a', '64k'], (bytes, { pos, size }) =>
      Buffer.concat([bytes.subarray(0, pos + size), bytes.subarray(pos)]),
    )
    await expect(verify()).rejects.toThrow(/the packets of audio track 0/)
  })

  it.each([
    ['wav', []],
    ['mov', [...picture(4), '-c:v', 'mpeg4']],
    ['mxf', [...picture(4), '-c:v', 'mpeg2video']],
  ])('hold no sample of the old sound (PCM in .%s)', async (extension, film) => {
    const made = [...film, ...SOUND, '-shortest', '-c:a', 'pcm_s16le']
    const path = folder.file(`old.${extension}`)
    await ffmpeg(...made, path)
    const before = await readFile(path)
    const { plan, verify } = await damaged(`old.${extension}`, made, (bytes, { pos, size }) => {
      before.copy(bytes, pos + 400, pos + 400, pos + Math.min(size, 800))
      return bytes
    })
    expect(bytesWriting(plan).writer).toBe('pcm-in-place')
    await expect(verify()).rejects.toThrow(/the samples of audio track 0/)
  })

  it('play at their times, also in the middle', async () => {
    const { verify } = await damaged('late.mp4', [...FILM, '-c:a', 'aac', ...FRAGMENTS], (bytes, { pos }) => {
      // The sound of a fragment is described by the last `tfdt` before it.
      const at = bytes.lastIndexOf('tfdt', pos) + 8
      bytes.writeUInt32BE(bytes.readUInt32BE(at + 4) + 480, at + 4)
      return bytes
    })
    await expect(verify()).rejects.toThrow(/the times of audio track 0/)
  })
})
