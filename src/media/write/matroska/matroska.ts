import { declines, type Survey, UNKNOWN_TRACK, type Wanted, type WantedTrack, type Writer } from '../writer.js'
import { censusOfMatroska } from './census-of-matroska.js'
import { layOutMatroska } from './lay-out/lay-out.js'
import { type MatroskaDonor, readMatroskaDonor } from './read/donor.js'
import { type MatroskaFile, readMatroska } from './read/matroska-file.js'
import { spliceableMatroska } from './spliceable-matroska.js'
import { unfitMatroska } from './unfit-matroska.js'
import { voicesOf } from './voice-track.js'

/** Writes new audio into Matroska and WebM files, live recordings included. */
export const matroska: Writer<MatroskaFile, MatroskaDonor> = {
  name: 'matroska',
  parse: async ({ formatName, path, sizeBytes }) =>
    formatName.startsWith('matroska') ? readMatroska(path, sizeBytes) : null,
  survey,
  readDonor: readMatroskaDonor,
  splice: async (file, wanted, place) => {
    if (wanted.tracks[place]?.input.firstFrames !== undefined)
      return 'its blocks hold several packets and state only their common length'
    const voice = voicesOf(file, wanted)?.[place]
    return voice ? spliceableMatroska(file, voice, wanted.media) : UNKNOWN_TRACK
  },
  layOut: (file, wanted, donors) => layOutMatroska(file, voicesOf(file, wanted) ?? [], donors),
}

function survey(file: MatroskaFile, wanted: Wanted): Survey {
  const voices = voicesOf(file, wanted)
  if (!voices) return declines(UNKNOWN_TRACK)
  const reason = unfitMatroska(file, voices)
  if (reason !== undefined) return declines(reason)
  return {
    kind: 'takes',
    census: censusOfMatroska(file, voices),
    donors: voices.map(({ skipSamples, isPrimingSignalled }, place) => ({
      muxer: 'matroska',
      // Times begin at a second, so that none of them is negative, which would move and round all others.
      options: ['-output_ts_offset', '1'],
      skipSamples: skipSamples + decoderDelay(wanted.tracks[place] as WantedTrack),
      sampleCount: null,
      priming: isPrimingSignalled ? 'signalled' : 'trimmed',
    })),
  }
}

/** The decoder of Speex is late by a quarter of a frame, which lasts 20 ms. No codec delay states it. */
function decoderDelay({ encoding, input }: WantedTrack): number {
  return encoding.codec === 'speex' ? Math.round(input.sampleRate / 200) : 0
}
