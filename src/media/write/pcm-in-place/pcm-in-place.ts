import { open } from 'node:fs/promises'
import type { ByteRange } from '../../../core/read-at.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../../media-info.js'
import { type BytePiece, CRC_32 } from '../byte-plan.js'
import { type Census, type CensusEntry, kept, rewritten, SIGNS_OLD_BYTES } from '../census.js'
import { codecChange } from '../encode/audio-encoding.js'
import { inPlace, type Replacement, withReplacements } from '../replacements.js'
import { CREDENTIALS_BOX } from '../structure/iso-boxes.js'
import type { Structure } from '../structure/structure.js'
import {
  type DonorFormat,
  declines,
  lateSamples,
  type Survey,
  type Wanted,
  type WantedTrack,
  type Writer,
} from '../writer.js'
import type { PcmDonor } from './bext-loudness.js'
import { holdsOneOf, type InPlaceFile, parseInPlace } from './in-place-file.js'
import { readPcmDonor } from './pcm-donor.js'
import { chunkLevels, staleChange, staleEntries } from './stale-chunks.js'
import { sampleBits, storedFrameBytes } from './stored-samples.js'

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
    if (reason !== undefined) return declines(`audio track ${track.input.audioIndex}: ${reason}`)
  }
  for (const { path } of parsed.structures) {
    if (path === CREDENTIALS_BOX) return declines(SIGNS_OLD_BYTES)
  }
  return {
    kind: 'takes',
    census: censusOf(parsed, tracks),
    levels: chunkLevels(parsed.stale),
    donors: tracks.map(({ input }) => {
      const bytes = runsOf(parsed, input).reduce((sum, { length }) => sum + length, 0)
      return donorFormat(media, input, bytes)
    }),
  }
}

function reasonAgainst(parsed: InPlaceFile, { input, encoding, channels }: WantedTrack): string | undefined {
  if (!PLAIN_PCM.test(input.codec ?? '')) return `${input.codec ?? 'its codec'} is not PCM`
  const change = codecChange(input, encoding)
  if (change !== null) return change
  if (channels !== input.channels) return 'its channels are mixed down'
  const samples = parsed.samples.get(input.audioIndex)
  if (!samples || samples.kind === 'unknown') return samples?.reason ?? 'its samples were not found'
  return samples.runs.some(({ length }) => length % storedFrameBytes(input) !== 0)
    ? 'one of its packets ends inside a sample'
    : undefined
}

function donorFormat(media: MediaInfo, input: AudioStreamInfo, bytes: number): DonorFormat {
  return {
    muxer: (input.codec ?? '').replace(/^pcm_/, ''),
    options: [],
    skipSamples: lateSamples(media, input),
    sampleCount: bytes / storedFrameBytes(input),
    priming: 'signalled',
    hasHighBytesOnly: input.bitsPerSample === 24 && sampleBits(input) === 32,
  }
}

/** Lists the fate of each structure while it is read: a film in MXF has millions. */
function censusOf(parsed: InPlaceFile, tracks: readonly WantedTrack[]): Census {
  const fateOf = structureFates(parsed, tracks)
  const staleAt = new Map(parsed.stale.map((fact) => [fact.chunk.start, fact]))
  return {
    *[Symbol.iterator]() {
      for (const structure of parsed.structures) {
        const fact = staleAt.get(structure.start)
        if (fact) yield* staleEntries(structure.path, fact)
        else yield fateOf(structure)
      }
    },
  }
}

function structureFates(parsed: InPlaceFile, tracks: readonly WantedTrack[]): (structure: Structure) => CensusEntry {
  const names = tracks.map(({ input }) => input.audioIndex).join(', ')
  const samples = `the samples of audio track ${names} are overwritten where they are`
  const summedEnds = new Set(parsed.checksums.map(({ start, covers }) => start + 4 + covers))
  const runs = tracks.map(({ input }) => runsOf(parsed, input))
  return (structure) => {
    const { path, start, length } = structure
    if (!runs.some((own) => holdsOneOf(structure, own))) return kept(path, start, length)
    const isSummed = summedEnds.has(start + length)
    return rewritten(path, start, length, isSummed ? `${samples}; its CRC-32 is that of the new bytes` : samples)
  }
}

/** Overwrites samples, and the facts about them. */
function layOut(parsed: InPlaceFile, { media, tracks }: Wanted, donors: readonly PcmDonor[]) {
  const changes = [
    ...tracks.flatMap(({ input }, donor) => sampleChanges(runsOf(parsed, input), donor)),
    ...parsed.stale.map((fact) => staleChange(fact, parsed.chunkForm === 'caf' ? 'free' : 'JUNK', donors[0])),
    ...checksumChanges(parsed, tracks),
  ].sort((one, other) => one.start - other.start)
  return withReplacements(media.sizeBytes, () => [changes])
}

function sampleChanges(runs: readonly ByteRange[], donor: number): readonly Replacement[] {
  let taken = 0
  return runs.map(({ start, length }) => {
    const piece: BytePiece = { kind: 'donor', donor, start: taken, length }
    taken += length
    return inPlace(start, [piece])
  })
}

/** Checksums over samples of the replaced tracks. */
function checksumChanges(parsed: InPlaceFile, tracks: readonly WantedTrack[]): readonly Replacement[] {
  const runs = tracks.map(({ input }) => runsOf(parsed, input))
  return parsed.checksums.flatMap(({ start, covers }) => {
    const isChanged = runs.some((own) => holdsOneOf({ start, length: covers }, own))
    return isChanged ? [inPlace(start, [{ kind: 'checksum', of: CRC_32, covers }])] : []
  })
}

function runsOf({ samples }: InPlaceFile, { audioIndex }: AudioStreamInfo): readonly ByteRange[] {
  const found = samples.get(audioIndex)
  return found?.kind === 'found' ? found.runs : []
}
