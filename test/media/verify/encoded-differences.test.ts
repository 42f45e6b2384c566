import { readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { encodedDifferences } from '../../../src/media/verify/encoded-differences.js'
import { verifyMux } from '../../../src/media/verify/verify-mux.js'
import type { EncodedPackets } from '../../../src/media/write/encoded-packets.js'
import type { MuxedVoice } from '../../../src/media/write/remux/mux.js'
import { newStreams } from '../../../src/media/write/remux/mux-command.js'
import type { StreamTimes } from '../../../src/media/write/remux/packet-times.js'
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
    return { plan, result, verified, path, verify: () => verifyMux(plan, result, part, { level: 'full' }) }
  }

  it.each([
    ['iso-bmff', 'film.mp4', [...FILM, '-c:a', 'aac'], 1, true],
    ['iso-bmff', 'fragments.mp4', [...FILM, '-c:a', 'aac', ...FRAGMENTS], 1, true],
    ['matroska', 'film.mkv', [...FILM, '-c:a', 'ac3'], 1, true],
    ['avi', 'film.avi', [...FILM, '-c:a', 'libmp3lame'], 1, false],
    ['chunks', 'sound.caf', [...SOUND, '-c:a', 'alac'], 1, false],
    ['frames', 'sound.mp3', [...SOUND, '-c:a', 'libmp3lame'], 1, false],
    ['frames', 'sound.ogg', [...SOUND, '-c:a', 'libvorbis'], 1, false],
    ['frames', 'sound.ac3', [...SOUND, '-c:a', 'ac3'], 1, false],
    // Packets of a second, also in a long file.
    ['frames', 'sound.wv', [...SOUND, '-c:a', 'wavpack'], 1, false],
    // The encoder may write one more than there are places.
    ['transport', 'film.ts', [...FILM, '-c:v', 'mpeg2video', '-c:a', 'mp2'], 2, true],
    ['program', 'film.vob', [...FILM, '-c:v', 'mpeg2video', '-c:a', 'mp2'], 2, false],
  ])(
    'must be those of the encoder, all of them, at their times (%s, %s)',
    async (writer, name, made, lost, isTimed) => {
      const { plan, result, verified, verify } = await damaged(name, made, (bytes, { pos, size }) => {
        const at = pos + Math.min(100, size - 2)
        bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
        return bytes
      })
      expect(bytesWriting(plan).writer).toBe(writer)
      expect(verified.checks).toContain('packets of the new audio')
      await expect(verify()).rejects.toMatchObject({ code: 'ERR_VERIFY_FAILED', exitCode: 7 })

      const { encoded } = result.voices[0] as MuxedVoice
      const { packets } = encoded as EncodedPackets & { readonly kind: 'packets' }
      const differencesOf = (read: StreamTimes) => {
        const packetTimes = new Map(newStreams(plan).map(({ input }) => [input.index, read]))
        return encodedDifferences(plan, result, { packetHashes: new Map(), packetTimes })
      }
      const { tickSec, pts, contents } = packets
      expect(differencesOf(packets)).toEqual([])
      const shorter = { tickSec, pts: pts.slice(0, -lost), contents: contents.slice(0, -lost) }
      expect(differencesOf(shorter)).toEqual(['the packets of audio track 0'])
      const otherFirst = contents.map((content, place) => (place === 0 ? content + 1 : content))
      const first = differencesOf({ ...packets, contents: otherFirst })
      expect(first).toEqual(['the packets of audio track 0'])
      const late = pts.map((time, place) => time + (place === pts.length >> 1 ? 0.005 / tickSec : 0))
      expect(differencesOf({ ...packets, pts: late })).toEqual(isTimed ? ['the times of audio track 0'] : [])
    },
  )

  it.each([
    ['iso-bmff', 'coding.mov', [...FILM, '-c:a', 'alac'], '\0\0\0\x24alac', 22],
    ['iso-bmff', 'flac.mp4', [...FILM, '-c:a', 'flac', '-strict', '-2'], 'dfLa', 18],
    // A checksum would be wrong too.
    ['matroska', 'coding.mkv', [...FILM, '-c:a', 'aac', '-write_crc32', '0'], '\x63\xa2\x85', 2],
    ['avi', 'coding.avi', [...FILM, '-c:a', 'aac'], '\x11\x90', 2],
    // STREAMINFO ends with a sum of all samples.
    ['frames', 'coding.flac', SOUND, 'fLaC', 37],
    ['chunks', 'coding.caf', [...SOUND, '-c:a', 'alac'], '\0\0\0\x24alac', 22],
  ])('must have the decoder configuration of the encoder (%s, %s)', async (writer, name, made, mark, behind) => {
    const { plan, verify } = await damaged(name, made, (bytes) => {
      const at = bytes.indexOf(mark, Math.max(0, bytes.lastIndexOf('moov')), 'latin1') + mark.length + behind
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
      return bytes
    })
    expect(bytesWriting(plan).writer).toBe(writer)
    await expect(verify()).rejects.toThrow('the decoder configuration of audio track 0')
  })

  it('may be read in one with old bytes before them, if the track has only frames', async () => {
    const path = folder.file('joined.ts')
    await ffmpeg(...tone(1, 48_000, 2), '-c:a', 'mp2', path)
    const { plan, result } = await writtenFile(path)
    const { packets } = (result.voices[0] as MuxedVoice).encoded as EncodedPackets & { readonly kind: 'packets' }
    const differencesOf = (joined: number) => {
      const contents = packets.contents.map((content, place) => (place < joined ? content + 2 ** 32 : content))
      const packetTimes = new Map(newStreams(plan).map(({ input }) => [input.index, { ...packets, contents }]))
      return encodedDifferences(plan, result, { packetHashes: new Map(), packetTimes })
    }
    expect(differencesOf(1)).toEqual([])
    expect(differencesOf(2)).toEqual(['the packets of audio track 0'])
  })

  it('keep times that ffmpeg drops from the raw frames of AC-3', async () => {
    const path = folder.file('long.ts')
    await ffmpeg(...tone(13, 44_100), '-c:a', 'ac3', '-b:a', '64k', path)
    const { plan, verified } = await writtenFile(path)
    expect(bytesWriting(plan).writer).toBe('transport')
    expect(verified.checks).toContain('packets of the new audio')
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
