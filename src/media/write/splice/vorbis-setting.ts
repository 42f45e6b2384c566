import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { TransientError } from '../../../core/errors.js'
import { runFfmpeg } from '../../ffmpeg/ffmpeg.js'
import { fileUrl } from '../../ffmpeg/input-safety.js'
import { temporaryFolder } from '../../ffmpeg/temporary-folder.js'
import { type EncoderFeed, encoderOptions, measuredOnce, silence } from '../encode/encoder-priming.js'
import { readMatroska } from '../matroska/read/matroska-file.js'
import { xiphPackets } from '../matroska/read/unlace.js'
import type { WantedTrack } from '../writer.js'
import type { SpliceableTrack, VorbisHeaders } from './old-packets.js'

/** The nominal bit rate of the id header (Vorbis I, 4.2.2), which libvorbis computes from its quality. */
const NOMINAL_RATE_AT = 20

/** Qualities of libvorbis that people choose. Its own scale is a tenth of these. */
const QUALITIES = Array.from({ length: 21 }, (_, place) => place / 2)

/**
 * Gives a track of Vorbis the options with which libvorbis writes the same set-up, byte by byte. Packets decode only with
 * their own code books. Encodes silence.
 *
 * @returns the reason if no options do; other tracks as they are
 */
export async function withSameSetUp<Donor>(
  track: SpliceableTrack<Donor>,
  { input, encoding }: WantedTrack,
  signal: AbortSignal | undefined,
): Promise<SpliceableTrack<Donor> | string> {
  if (input.codec !== 'vorbis') return track
  const { vorbis } = track
  if (!vorbis) return 'packets of vorbis cannot be joined in its container'
  const { sampleRate, channels, channelLayout } = input
  const feed = { sampleRate, channels, channelLayout }
  const key = ['vorbis', createHash('sha256').update(vorbis.id).update(vorbis.setUp).digest('hex'), feed]
  const encoderOptions = await measuredOnce(key, optionsSchema, () => {
    return optionsLike(vorbis, (choices) => setUpsOf(encoding.encoder, choices, feed, signal))
  })
  return encoderOptions === null
    ? 'its code books are not those of this encoder at any quality'
    : { ...track, encoderOptions }
}

const optionsSchema = z.array(z.string()).nullable()

type Choice = readonly [option: string, value: string]

/** First asks for the nominal bit rate, because each one belongs to a quality. */
async function optionsLike(
  { id, setUp }: VorbisHeaders,
  setUps: (choices: readonly Choice[]) => Promise<readonly (Buffer | undefined)[]>,
): Promise<string[] | null> {
  const nominal = id.length >= NOMINAL_RATE_AT + 4 ? id.readInt32LE(NOMINAL_RATE_AT) : 0
  const rates: readonly Choice[] = nominal > 0 ? [['-b', String(nominal)]] : []
  const qualities = QUALITIES.map((quality): Choice => ['-q', String(quality)])
  for (const choices of [rates, qualities]) {
    const place = choices.length > 0 ? (await setUps(choices)).findIndex((made) => made?.equals(setUp)) : -1
    const [option, value] = choices[place] ?? []
    if (option !== undefined && value !== undefined) return [`${option}:{s}`, value]
  }
  return null
}

/** The set-up headers that the encoder writes with each choice; none if it refuses one of them. */
async function setUpsOf(
  encoder: string,
  choices: readonly Choice[],
  feed: EncoderFeed,
  signal: AbortSignal | undefined,
): Promise<readonly (Buffer | undefined)[]> {
  await using folder = await temporaryFolder('voxmux-vorbis-')
  const path = join(folder.path, 'silence.mka')
  const encoding = { codec: 'vorbis', encoder, lossless: false, bitRate: null, options: [] }
  const options = [
    ...choices.flatMap(() => ['-map', '0:a']),
    ...encoderOptions(encoding, feed),
    ...choices.flatMap(([option, value], place) => [`${option}:a:${place}`, value]),
    ...['-f', 'matroska'],
  ]
  try {
    await runFfmpeg({ inputs: [silence(feed)], outputs: [{ url: fileUrl(path), options }] }, { signal })
    const { tracks } = await readMatroska(path, (await stat(path)).size)
    return tracks.map(({ codecPrivate }) => (codecPrivate ? xiphPackets(codecPrivate)?.[2] : undefined))
  } catch (error) {
    if (signal?.aborted || error instanceof TransientError) throw error
    return []
  }
}
