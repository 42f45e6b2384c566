import { describe, expect, it } from 'vitest'
import { newCodecPrivate } from '../../../../src/media/write/matroska/lay-out/codec-private.js'
import type { TrackEntry } from '../../../../src/media/write/matroska/read/track-entry.js'

const entry = (codecId: string, codecPrivate: Buffer | null) => ({ codecId, codecPrivate }) as unknown as TrackEntry

/** A FLAC header of blocks: type and content. */
function flac(...blocks: readonly (readonly [number, string])[]): Buffer {
  const made = blocks.map(([type, content], place) => {
    const head = Buffer.from([type | (place === blocks.length - 1 ? 0x80 : 0), 0, 0, content.length])
    return Buffer.concat([head, Buffer.from(content)])
  })
  return Buffer.concat([Buffer.from('fLaC'), ...made])
}

/** Three packets with Xiph lacing. */
function vorbis(...packets: readonly [string, string, string]): Buffer {
  const sizes = packets.slice(0, 2).flatMap(({ length }) => {
    return [...Array.from({ length: Math.floor(length / 255) }, () => 255), length % 255]
  })
  return Buffer.concat([Buffer.from([2, ...sizes]), Buffer.from(packets.join(''))])
}

describe("a codec's own header", () => {
  it('keeps the comments and pictures of FLAC, and no seek table', () => {
    const old = entry('A_FLAC', flac([0, 'old info'], [3, 'seek table'], [4, 'comment'], [6, 'picture']))
    const made = newCodecPrivate(old, entry('A_FLAC', flac([0, 'new info'], [4, 'encoder'])))
    expect(made).toEqual(flac([0, 'new info'], [4, 'comment'], [6, 'picture']))
    const alone = newCodecPrivate(entry('A_FLAC', flac([0, 'old info'])), entry('A_FLAC', flac([0, 'new info'])))
    expect(alone).toEqual(flac([0, 'new info']))
  })

  it('keeps the comment of Vorbis, however long it is', () => {
    const comment = 'c'.repeat(600)
    const old = entry('A_VORBIS', vorbis('old id', comment, 'old set-up'))
    const made = newCodecPrivate(old, entry('A_VORBIS', vorbis('new id', 'x', 'new set-up')))
    expect(made).toEqual(vorbis('new id', comment, 'new set-up'))
  })

  it('keeps the rate that the sound of Opus had before', () => {
    const head = (rate: number) => {
      const bytes = Buffer.from('OpusHead\x01\x02\0\0\0\0\0\0\0\0\0', 'latin1')
      bytes.writeUInt32LE(rate, 12)
      return bytes
    }
    const made = Buffer.from(head(48_000))
    made.writeUInt16LE(312, 10)
    const merged = newCodecPrivate(entry('A_OPUS', head(44_100)), entry('A_OPUS', made))
    expect([merged?.readUInt16LE(10), merged?.readUInt32LE(12)]).toEqual([312, 44_100])
  })

  it('is that of the new packets for any other codec, and for a structure that nobody knows', () => {
    const fresh = Buffer.from('fresh')
    expect(newCodecPrivate(entry('A_AAC', Buffer.from('old')), entry('A_AAC', fresh))).toBe(fresh)
    expect(newCodecPrivate(entry('A_FLAC', Buffer.from('not FLAC')), entry('A_FLAC', fresh))).toBe(fresh)
    expect(newCodecPrivate(entry('A_VORBIS', Buffer.from([2, 255])), entry('A_VORBIS', fresh))).toBe(fresh)
    expect(newCodecPrivate(entry('A_DTS', Buffer.from('old')), entry('A_FLAC', null))).toBeNull()
  })
})
