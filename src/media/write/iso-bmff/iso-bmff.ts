import { open } from 'node:fs/promises'
import type { PrecheckError } from '../../../core/errors.js'
import { unreadable } from '../../ffmpeg/ffmpeg-failure.js'
import { isMovie } from '../../probe/container-kind.js'
import { declines, type Survey, UNKNOWN_TRACK, type Wanted, type WantedTrack, type Writer } from '../writer.js'
import { censusOfIso } from './census-of-iso.js'
import { layOutFile } from './lay-out/lay-out.js'
import { narrowOffsets } from './lay-out/narrow-offsets.js'
import { movieLevels } from './old-facts.js'
import { type DonorTrack, readDonorTrack } from './read/donor-track.js'
import { hasUnplacedRuns } from './read/fragments.js'
import { hintTracksOf } from './read/hint-tracks.js'
import { type IsoFile, readIsoFile } from './read/iso-file.js'
import { readStructure } from './read/read-structure.js'
import { isFragmented, type OldTrack, presentedSec } from './read/voice-runs.js'
import { spliceableIso } from './spliceable-iso.js'
import { trackOf, unfitIso } from './unfit-iso.js'

/** Writes new audio into ISO base media and QuickTime files, also fragmented ones. */
export const isoBmff: Writer<IsoFile, DonorTrack> = {
  name: 'iso-bmff',
  parse: async (media) => {
    if (!isMovie(media)) return null
    await using file = await open(media.path, 'r')
    const movie = readIsoFile(await readStructure(file, media.sizeBytes), media.startSec)
    if (hasUnplacedRuns(movie.fragments)) throw misread(media.path)
    return movie
  },
  survey,
  readDonor: async (path, track, _signal, file) => {
    const donor = await readDonorTrack(path)
    const voice = trackOf(file, track.input)
    if (voice === undefined) return donor
    const hiddenSec = partlyHiddenSec(file, voice, track)
    if (hiddenSec !== null) return { ...donor, primingTicks: Math.round(hiddenSec * donor.timeScale) }
    const leadTicks = Math.round(silentLeadSec(file, voice, track) * donor.timeScale)
    return { ...donor, primingTicks: donor.primingTicks + leadTicks }
  },
  splice: async (file, wanted, place) => {
    const voice = voicesOf(file, wanted)?.[place]
    return voice === undefined ? UNKNOWN_TRACK : spliceableIso(file, voice, wanted.media.startSec)
  },
  layOut: (file, wanted, donors) => layOutFile(file, voicesOf(file, wanted) ?? [], donors),
}

/** Neither a copy by ffmpeg nor a comparison of its packets would be right. */
function misread(path: string): PrecheckError {
  return unreadable(`${path} has fragments whose samples ffmpeg reads at a wrong place`, {
    input: path,
    remedies: ['Write it again without fragments, for example with `MP4Box -add in.mp4 -new out.mp4`.'],
  })
}

function survey(file: IsoFile, wanted: Wanted): Survey {
  const voices = voicesOf(file, wanted)
  if (!voices) return declines(UNKNOWN_TRACK)
  const reason = unfitIso(file, voices) ?? narrowOffsets(file, wanted.tracks, wanted.media)
  if (reason !== undefined) return declines(reason)
  if (voices.some((voice, place) => losesPriming(file, voice, wanted.tracks[place] as WantedTrack))) {
    return declines('the priming of Opus in its fragments has no place in another codec')
  }
  // QuickTime has its own sound description, which ffmpeg's `mov` muxer writes.
  const muxer = wanted.media.container === 'mov' ? 'mov' : 'mp4'
  return {
    kind: 'takes',
    census: censusOfIso(file, voices),
    lostStreams: hintStreams(file, voices, wanted),
    levels: movieLevels(file, voices),
    donors: wanted.tracks.map((track, place) => {
      const voice = voices[place] as number
      const hiddenSec = partlyHiddenSec(file, voice, track)
      const span = spanOf(file, voice, track.input.sampleRate, hiddenSec ?? silentLeadSec(file, voice, track))
      // The edit list states the encoder's priming.
      const priming = hiddenSec === null ? 'signalled' : 'trimmed'
      return { muxer, options: ['-use_editlist', '1'], ...span, priming }
    }),
  }
}

/** Samples of priming of ffmpeg's encoders that are part of a packet. The codec's own header does not state them. */
const PART_OF_PACKET: ReadonlyMap<string, number> = new Map([
  ['ac3', 256],
  ['eac3', 256],
  ['mp2', 481],
  ['mp3', 1105],
])

/** Priming of libopus: 312 samples at 48 kHz. */
const OPUS_PRIMING_SEC = 0.0065

/**
 * Seconds that the edit list of fragments hides, if they are less than the new priming. The rest of it then stands in the
 * place of the first sound. If the first packet were left out, its sound would be missing, and the next one would begin
 * late. Null if all of the priming is hidden.
 */
function partlyHiddenSec(file: IsoFile, voice: number, { encoding, input }: WantedTrack): number | null {
  const old = file.oldTracks.get(voice) as OldTrack
  const hiddenSec = (old.shownTick - old.runs.firstTick) / old.track.timeScale
  const isAll = hiddenSec * input.sampleRate >= (PART_OF_PACKET.get(encoding.codec) ?? 0)
  return isAll || !isFragmented(old) ? null : Math.min(hiddenSec, Math.max(0, lateSecIn(file, old)))
}

/**
 * Seconds of silence in front of Opus in fragments, so that the file begins as early as before. Its decoder drops more than
 * the new priming in recordings of Chromium.
 */
function silentLeadSec({ oldTracks }: IsoFile, voice: number, { encoding }: WantedTrack): number {
  const { track, runs, shownTick } = oldTracks.get(voice) as OldTrack
  if (encoding.codec !== 'opus' || runs.inFragments === 0 || runs.inIndex > 0) return 0
  return Math.max(0, (shownTick - runs.firstTick) / track.timeScale - OPUS_PRIMING_SEC)
}

/** True for fragments of Opus, whose decoder drops priming, that become another codec. */
function losesPriming({ oldTracks }: IsoFile, voice: number, { encoding, input }: WantedTrack): boolean {
  const isOther = input.codec === 'opus' && encoding.codec !== 'opus'
  return isOther && isFragmented(oldTracks.get(voice) as OldTrack)
}

/** The part of a voice on the file's clock that its track presents, in samples. @param earlySec before that part */
function spanOf(file: IsoFile, voice: number, sampleRate: number, earlySec: number) {
  const old = file.oldTracks.get(voice) as OldTrack
  return {
    skipSamples: Math.max(0, Math.round((lateSecIn(file, old) - earlySec) * sampleRate)),
    sampleCount: Math.round((old.shownTicks / old.track.timeScale + earlySec) * sampleRate),
  }
}

/** The first presentation of a track after the first sample of the file. */
function lateSecIn({ movie, startSec }: IsoFile, old: OldTrack): number {
  return presentedSec(old, movie.timeScale) - startSec
}

/** The streams of ffprobe that are hint tracks of replaced voices. */
function hintStreams({ movie }: IsoFile, voices: readonly number[], { media }: Wanted): ReadonlySet<number> {
  const ids = new Set(hintTracksOf(movie, voices).map(({ id }) => id))
  return new Set(media.streams.flatMap(({ index, id }) => (ids.has(id ?? 0) ? [index] : [])))
}

/** Places of the wanted tracks in the movie. */
function voicesOf(file: IsoFile, { tracks }: Wanted): readonly number[] | undefined {
  const voices = tracks.map(({ input }) => trackOf(file, input))
  return voices.every((voice) => voice !== undefined) && new Set(voices).size === voices.length ? voices : undefined
}
