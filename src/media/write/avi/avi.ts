import { open, stat } from 'node:fs/promises'
import { MalformedFile } from '../../probe/malformed-file.js'
import { staleChunks } from '../pcm-in-place/stale-chunks.js'
import type { Chunk } from '../structure/chunks.js'
import { declines, type Survey, UNKNOWN_TRACK, type Wanted, type Writer } from '../writer.js'
import { type AviFile, readAvi } from './avi-file.js'
import { type ChangedStream, fitsIndex, placesIn } from './avi-index.js'
import { censusOfAvi } from './census-of-avi.js'
import { layOutAvi } from './lay-out-avi.js'
import type { AviDonor } from './movie-layout.js'
import { unfitOpenDml } from './open-dml-fit.js'

/** Sizes and places in a part have 32 bits, and some readers take the highest as a sign. */
const MOST_BYTES = 0x7000_0000
const MOST_DONOR_BYTES = 900_000_000
const TOO_LONG = 'its sizes have 32 bits, and the new sound may need more'

/** An AVI, with chunks that sign its bytes. */
interface SignedAvi {
  readonly avi: AviFile
  readonly signatures: ReadonlySet<Chunk>
  /** A chunk with other facts about the old samples. */
  readonly stale: Chunk | undefined
}

/** Writes new sound of any coding into an AVI: every other chunk stays. */
export const aviSound: Writer<SignedAvi, AviDonor> = {
  name: 'avi',
  parse: async (media) => {
    if (media.formatName !== 'avi') return null
    const avi = await readAvi(media.path, media.sizeBytes)
    await using handle = await open(media.path, 'r')
    const facts = await staleChunks(handle, { chunks: avi.parts.flatMap(({ chunks }) => chunks) })
    const signatures = facts.filter(({ kind }) => kind === 'signature').map(({ chunk }) => chunk)
    const stale = facts.find(({ kind }) => kind !== 'signature')?.chunk
    return { avi, signatures: new Set(signatures), stale }
  },
  survey,
  readDonor,
  layOut: ({ avi, signatures }, { tracks }, donors) => {
    const numbers = tracks.map(({ input }) => input.index)
    return layOutAvi(avi, { numbers, signatures }, donors)
  },
}

function survey({ avi, signatures, stale }: SignedAvi, wanted: Wanted): Survey {
  const numbers = wanted.tracks.map(({ input }) => input.index)
  const reason = unfitReason(avi, numbers, wanted)
  if (reason !== undefined) return declines(reason)
  if (stale) return declines(`its chunk ${stale.id} states facts about the old sound`)
  return {
    kind: 'takes',
    census: censusOfAvi(avi, numbers, signatures),
    donors: wanted.tracks.map(({ encoding }) => ({
      muxer: 'avi',
      options: [],
      skipSamples: 0,
      sampleCount: null,
      priming: encoding.lossless ? 'signalled' : 'trimmed',
    })),
  }
}

function unfitReason(avi: AviFile, numbers: readonly number[], { media, tracks }: Wanted): string | undefined {
  const changed: ChangedStream[] = []
  for (const number of numbers) {
    const [stream, chunks] = [avi.streams[number], avi.data.sound.get(number)]
    if (!stream || !chunks) return UNKNOWN_TRACK
    if (chunks.count === 0) return 'the track lists no packets'
    if (stream.clock.start !== 0) return 'the track starts late'
    if (stream.clock.rate === 0 || stream.clock.scale === 0) return 'the track states no clock'
    changed.push({ number, chunks })
  }
  if (avi.streams.length !== media.streams.length) return 'it has other streams than ffmpeg reads'
  if (avi.parts.some(({ start, end }) => end - start > MOST_BYTES)) return TOO_LONG
  const donorBytes = tracks.map(({ input, encoding, channels }) => {
    const bitRate = encoding.bitRate ?? input.sampleRate * channels * 32
    return ((media.durationSec ?? Number.POSITIVE_INFINITY) * bitRate) / 8
  })
  const growths = avi.parts.map((part) => {
    const shares = changed.map(
      (stream) => (placesIn(part, stream).to - placesIn(part, stream).from) / stream.chunks.count,
    )
    return shares.reduce((sum, share, track) => sum + share * (donorBytes[track] ?? 0), 0)
  })
  if (growths.some((bytes) => bytes > MOST_DONOR_BYTES)) return TOO_LONG
  if (avi.parts.some((part) => !fitsIndex(part, avi.data, changed))) return 'its index does not fit its packets'
  return unfitOpenDml(avi, changed)
}

async function readDonor(path: string): Promise<AviDonor> {
  const { streams, data } = await readAvi(path, (await stat(path)).size)
  const [stream, packets] = [streams[0], data.sound.get(0)]
  if (!stream || !packets || packets.count === 0) throw new MalformedFile('it has no packets')
  return { stream, packets }
}
