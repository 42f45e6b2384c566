import { open } from 'node:fs/promises'
import type { AudioStreamInfo, MediaInfo } from '../../media-info.js'
import { audioStreams } from '../../media-info.js'
import { type BytePiece, bytePlan, CRC_32, pieceLength } from '../byte-plan.js'
import { type Census, type CensusEntry, kept, lost, rewritten, SIGNS_OLD_BYTES } from '../census.js'
import { CREDENTIALS_BOX } from '../structure/iso-boxes.js'
import type { Structure } from '../structure/structure.js'
import { type DonorFormat, lateSamples, type Survey, type Wanted, type WantedTrack, type Writer } from '../writer.js'
import { loudnessFields } from './bext-loudness.js'
import { holdsOneOf, type InPlaceFile, parseInPlace } from './in-place-file.js'
import { type PcmDonor, readPcmDonor } from './pcm-donor.js'
import { type SampleRun, sampleBits } from './sample-places.js'
import { levelsOf, loudnessStart, md5For, tagEntries } from './stale-chunks.js'

/** Codecs with samples of equal size that ffmpeg writes as a raw stream. */
const PLAIN_PCM = /^pcm_(u8|s8|[suf](16|24|32|64)[lb]e|alaw|mulaw)$/

/** Overwrites the samples of PCM tracks in place. Nothing else in the file changes. */
export const pcmInPlace: Writer<InPlaceFile, PcmDonor> = {
  name: 'pcm-in-place',
  parse: async (media, signal) => {
    const tracks = audioStreams(media).filter(({ codec }) => PLAIN_PCM.test(codec ?? ''))
    if (tracks.length === 0) return null
    await using file = await open(media.path, 'r')
    return await parseInPlace(file, media, tracks, signal)
  },
  survey,
  readDonor: readPcmDonor,
  layOut,
}

function survey(parsed: InPlaceFile, { media, tracks }: Wanted): Survey {
  for (const track of tracks) {
    const reason = reasonAgainst(parsed, track)
    if (reason !== undefined) return { kind: 'declines', reason: `audio track ${track.input.audioIndex}: ${reason}` }
  }
  for (const { path } of parsed.structures) {
    if (path === CREDENTIALS_BOX) return { kind: 'declines', reason: SIGNS_OLD_BYTES }
  }
  return {
    kind: 'takes',
    census: censusOf(parsed, tracks),
    levels: levelsOf(parsed.stale),
    donors: tracks.map(({ input }) => donorFormat(media, input, trackBytes(parsed, input))),
  }
}

function reasonAgainst(parsed: InPlaceFile, { input, encoding, channels }: WantedTrack): string | undefined {
  if (!PLAIN_PCM.test(input.codec ?? '')) return `${input.codec ?? 'its codec'} is not PCM`
  if (encoding.codec !== input.codec) return `${input.codec} becomes ${encoding.codec}`
  if (channels !== input.channels) return 'its channels are mixed down'
  const places = parsed.places.get(input.audioIndex)
  if (!places || places.kind === 'unknown') return places?.reason ?? 'its samples were not found'
  const frame = (sampleBits(input) / 8) * input.channels
  return places.runs.some(({ length }) => length % frame !== 0) ? 'one of its packets ends inside a sample' : undefined
}

function donorFormat(media: MediaInfo, input: AudioStreamInfo, bytes: number): DonorFormat {
  const frame = (sampleBits(input) / 8) * input.channels
  return {
    muxer: (input.codec ?? '').replace(/^pcm_/, ''),
    options: [],
    skipSamples: lateSamples(media, input),
    sampleCount: bytes / frame,
    leadIn: 'signalled',
    hasHighBytesOnly: input.bitsPerSample === 24 && sampleBits(input) === 32,
  }
}

/** Lists the fate of each structure while it is read: a film in MXF has millions. */
function censusOf(parsed: InPlaceFile, tracks: readonly WantedTrack[]): Census {
  const fateOf = structureFates(parsed, tracks)
  const tags = new Map(parsed.stale.flatMap((fact) => (fact.kind === 'tag' ? [[fact.chunk.start, fact]] : [])))
  return {
    *[Symbol.iterator]() {
      for (const structure of parsed.structures) {
        const fact = tags.get(structure.start)
        if (fact) yield* tagEntries(structure.path, fact.chunk, fact.tag)
        else yield fateOf(structure)
      }
    },
  }
}

function structureFates(parsed: InPlaceFile, tracks: readonly WantedTrack[]): (structure: Structure) => CensusEntry {
  const { stale, checksums } = parsed
  const names = tracks.map(({ input }) => input.audioIndex).join(', ')
  const samples = `the samples of audio track ${names} are overwritten where they are`
  const summedEnds = new Set(checksums.map(({ start, covers }) => start + 4 + covers))
  const staleAt = new Map(stale.flatMap((fact) => (fact.kind === 'tag' ? [] : [[fact.chunk.start, fact]])))
  const runs = tracks.map(({ input }) => runsOf(parsed, input))
  return (structure) => {
    const { path, start, length } = structure
    if (runs.some((own) => holdsOneOf(structure, own))) {
      return rewritten(
        path,
        start,
        length,
        summedEnds.has(start + length) ? `${samples}; its CRC-32 is that of the new bytes` : samples,
      )
    }
    const fact = staleAt.get(start)
    if (!fact) return kept(path, start, length)
    switch (fact.kind) {
      case 'loudness':
        return rewritten(path, start, length, 'its loudness fields are measured again')
      case 'md5':
        return fact.md5Order === null
          ? lost(path, start, length, 'it is a checksum that did not fit the old sound')
          : rewritten(path, start, length, 'the checksum is that of the new sound')
      case 'peaks':
        return lost(path, start, length, 'it lists the peaks of the old sound')
      case 'signature':
        return lost(path, start, length, SIGNS_OLD_BYTES)
      default:
        return fact.kind satisfies never
    }
  }
}

/** Pieces in file order: overwritten samples, and the input between them. */
function layOut(parsed: InPlaceFile, { media, tracks }: Wanted, donors: readonly PcmDonor[]) {
  const changes = [
    ...tracks.flatMap(({ input }, donor) => sampleChanges(runsOf(parsed, input), donor)),
    ...staleChanges(parsed, donors),
    ...checksumChanges(parsed, tracks),
  ].sort((one, other) => one.start - other.start)
  const pieces: BytePiece[] = []
  let at = 0
  for (const { start, pieces: fresh } of changes) {
    pieces.push({ kind: 'input', start: at, length: start - at }, ...fresh)
    at = start + fresh.reduce((sum, piece) => sum + pieceLength(piece), 0)
  }
  pieces.push({ kind: 'input', start: at, length: media.sizeBytes - at })
  return bytePlan(pieces)
}

interface Change {
  readonly start: number
  readonly pieces: readonly BytePiece[]
}

function sampleChanges(runs: readonly SampleRun[], donor: number): readonly Change[] {
  let taken = 0
  return runs.map(({ start, length }) => {
    const piece: BytePiece = { kind: 'donor', donor, start: taken, length }
    taken += length
    return { start, pieces: [piece] }
  })
}

/** Checksums over samples of the replaced tracks. */
function checksumChanges(parsed: InPlaceFile, tracks: readonly WantedTrack[]): readonly Change[] {
  const runs = tracks.map(({ input }) => runsOf(parsed, input))
  return parsed.checksums.flatMap(({ start, covers }) => {
    const isChanged = runs.some((own) => holdsOneOf({ start, length: covers }, own))
    return isChanged ? [{ start, pieces: [{ kind: 'checksum', of: CRC_32, covers }] }] : []
  })
}

function staleChanges({ stale, chunkForm }: InPlaceFile, [donor]: readonly PcmDonor[]): readonly Change[] {
  return stale.map((fact) => {
    const { chunk, kind } = fact
    const { start, bodyStart, bodyLength } = chunk
    if (kind === 'loudness' && donor?.loudness) {
      return { start: loudnessStart(chunk), pieces: [bytes(loudnessFields(donor.loudness))] }
    }
    if (kind === 'tag') return { start: bodyStart, pieces: fact.tag.pieces }
    const md5 = kind === 'md5' && donor ? md5For(fact, donor) : null
    if (md5) return { start: bodyStart, pieces: [bytes(md5)] }
    const id = Buffer.from(chunkForm === 'caf' ? 'free' : 'JUNK', 'latin1')
    const rest: BytePiece = { kind: 'input', start: start + 4, length: bodyStart - start - 4 }
    return { start, pieces: [bytes(id), rest, bytes(Buffer.alloc(bodyLength))] }
  })
}

function bytes(content: Uint8Array): BytePiece {
  return { kind: 'bytes', bytes: content }
}

function runsOf({ places }: InPlaceFile, { audioIndex }: AudioStreamInfo): readonly SampleRun[] {
  const found = places.get(audioIndex)
  return found?.kind === 'found' ? found.runs : []
}

function trackBytes(parsed: InPlaceFile, input: AudioStreamInfo): number {
  return runsOf(parsed, input).reduce((sum, { length }) => sum + length, 0)
}
