import { type FileHandle, open, stat } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import type { AudioStreamInfo, MediaInfo } from '../../media-info.js'
import { MalformedFile } from '../../probe/malformed-file.js'
import { type CensusEntry, kept, rewritten } from '../census.js'
import { measureSamples } from '../pcm-in-place/pcm-donor.js'
import { chunkLevels, staleChunks, staleEntries } from '../pcm-in-place/stale-chunks.js'
import { sampleBits } from '../pcm-in-place/stored-samples.js'
import { type Chunk, type ChunkFile, chunkFile } from '../structure/chunks.js'
import { declines, lateSamples, type Survey, type Wanted, type WantedTrack, type Writer } from '../writer.js'
import { layOutChunks } from './lay-out-chunks.js'
import { type ChunkDonor, isOfCoding, type SoundFile } from './sound-chunks.js'

/** Containers by the name of ffmpeg's muxer. */
const MUXERS: ReadonlySet<string> = new Set(['wav', 'w64', 'aiff', 'caf'])
/** Sizes of RIFF and AIFF have 32 bits; some room for the other chunks. */
const MOST_BYTES = 0xf000_0000
/** Chunks that assign channels to places or objects, or list them. */
const CHANNEL_FACTS: ReadonlySet<string> = new Set(['chna', 'chan', 'CHAN', 'PEAK', 'peak'])
/** Places in the body of `fmt `. */
const FORMAT = { blockAlign: 12, bytes: 16 }
const FORM_TYPE_AT = 8
/** Place in the body of `ds64`. */
const SAMPLES_AT = 16

/** Writes sound of another coding or length into WAV, W64, AIFF and CAF: every other chunk stays. */
export const soundChunks: Writer<SoundFile, ChunkDonor> = {
  name: 'chunks',
  parse: async (media) => {
    if (!MUXERS.has(media.container)) return null
    await using handle = await open(media.path, 'r')
    const file = await chunkFile(handle, media.sizeBytes)
    if (file?.isRifx) return 'the high byte of its numbers comes first (RIFX)'
    return file ? { file, stale: await staleChunks(handle, file) } : null
  },
  survey,
  readDonor,
  layOut: (sound, _wanted, [donor]) => layOutChunks(sound, donor as ChunkDonor),
}

function survey(sound: SoundFile, { media, tracks }: Wanted): Survey {
  const [track] = tracks
  const reason = track && unfitReason(sound.file, media, track)
  if (!track || reason !== undefined) return declines(reason ?? 'it has no audio track')
  return {
    kind: 'takes',
    census: censusOf(sound),
    levels: chunkLevels(sound.stale),
    donors: [
      {
        muxer: media.container,
        options: sound.file.form === 'rf64' ? ['-rf64', 'always'] : [],
        skipSamples: lateSamples(media, track.input),
        sampleCount: null,
        priming: track.encoding.lossless ? 'signalled' : 'trimmed',
      },
    ],
  }
}

function unfitReason({ form, chunks }: ChunkFile, media: MediaInfo, track: WantedTrack): string | undefined {
  const { input, encoding, channels } = track
  const isShort = form === 'riff' || form === 'aiff'
  const isPcm = encoding.codec.startsWith('pcm_')
  if (isShort && isPcm && media.sizeBytes + pcmBytes(input, encoding.codec, media) > MOST_BYTES) {
    return 'its sizes have 32 bits, and the new sound may need more'
  }
  const facts = chunks.find(({ id }) => CHANNEL_FACTS.has(id))
  return facts && channels !== input.channels ? `its chunk ${facts.id} describes channels that are mixed` : undefined
}

function pcmBytes({ sampleRate, channels }: AudioStreamInfo, codec: string, { durationSec }: MediaInfo): number {
  return (durationSec ?? Number.POSITIVE_INFINITY) * sampleRate * channels * (sampleBits({ codec }) / 8)
}

function censusOf({ file, stale }: SoundFile): readonly CensusEntry[] {
  const { name, headLength, chunks, end, sizeBytes, form } = file
  const staleAt = new Map(stale.map((fact) => [fact.chunk, fact]))
  const head = form === 'caf' ? kept(name, 0, headLength) : rewritten(name, 0, headLength, 'size of its chunks')
  const entries = chunks.flatMap((chunk): CensusEntry | readonly CensusEntry[] => {
    const { id, start } = chunk
    const [path, length] = [`${name}/${id.trim()}`, chunk.end - start]
    if (isOfCoding(form, id)) return rewritten(path, start, length, 'coding and samples of the new sound')
    if (id === 'ds64') return rewritten(path, start, length, 'sizes of the new sound')
    const fact = staleAt.get(chunk)
    return fact ? staleEntries(path, fact) : kept(path, start, length)
  })
  return [head, ...entries, ...(sizeBytes > end ? [kept('trailing bytes', end, sizeBytes - end)] : [])]
}

async function readDonor(
  path: string,
  track: WantedTrack,
  signal: AbortSignal | undefined,
  { stale }: SoundFile,
): Promise<ChunkDonor> {
  await using handle = await open(path, 'r')
  const file = await chunkFile(handle, (await stat(path)).size)
  const found = (id: string) => file?.chunks.find((chunk) => chunk.id === id)
  const [sizes, format, data] = [found('ds64'), found('fmt '), found('data')]
  if (!file) throw new MalformedFile('it has no chunks')
  const range = data ? { range: { start: data.bodyStart, length: data.bodyLength } } : {}
  const facts = await measureSamples(path, { track, stale, samples: { readOptions: [], ...range }, signal })
  // A block of E-AC-3 is not a sample. Only the sizes of an RF64 state their number.
  const stated = sizes && Number((await readAt(handle, sizes.bodyStart + SAMPLES_AT, 8)).readBigUInt64LE())
  const sampleCount = stated ?? (format && data ? await samplesOf(handle, format, data) : null)
  return { file, formType: await readAt(handle, FORM_TYPE_AT, 4), sampleCount, ...facts }
}

async function samplesOf(handle: FileHandle, format: Chunk, data: Chunk): Promise<number | null> {
  const fields = await readAt(handle, format.bodyStart, FORMAT.bytes)
  const align = fields.length < FORMAT.bytes ? 0 : fields.readUInt16LE(FORMAT.blockAlign)
  return align > 0 ? data.bodyLength / align : null
}
