import { writeFile } from 'node:fs/promises'
import type { MediaInfo } from '../../../../src/media/media-info.js'
import type { Wanted } from '../../../../src/media/write/writer.js'
import { frameTicks, SOUND_PID, type TransportForm } from './made-transport.js'

const WRAP = 2 ** 33

/** The file as ffmpeg would describe it. */
export async function wantedOf(path: string, form: TransportForm, bytes: Buffer, firstFrame: number): Promise<Wanted> {
  await writeFile(path, bytes)
  const startSec = ((form.firstTicks + firstFrame * frameTicks(form.codec)) % WRAP) / 90_000
  const input = { index: 1, audioIndex: 0, kind: 'audio', id: SOUND_PID, codec: form.codec, profile: 'LC', startSec }
  const sound = { ...input, sampleRate: 48_000, channels: 2 }
  const media = { path, sizeBytes: bytes.length, formatName: 'mpegts', startSec, durationSec: 1, streams: [sound] }
  const encoding = { codec: form.codec, encoder: form.codec, lossless: false, bitRate: 192_000, options: [] }
  const tracks = [{ input: sound, encoding, channels: 2 }]
  return { media: media as unknown as MediaInfo, tracks: tracks as unknown as Wanted['tracks'] }
}
