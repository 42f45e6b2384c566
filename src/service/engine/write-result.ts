import { rm } from 'node:fs/promises'
import { type OutputType, outputTypeSchema } from '../../contract/index.js'
import {
  type AudioStreamInfo,
  audioStreams,
  type MediaInfo,
  mux,
  type PcmStream,
  pictureOf,
  planMux,
  probe,
} from '../../media/index.js'
import { silentPcm } from '../../media/pcm/pcm-streams.js'
import { requireCopyablePictures } from '../../media/probe/movie/edit-lists.js'
import { copyWaveChunks } from '../../media/write/remux/mend/copy-wave-chunks.js'
import type { VoicePool, VoiceTally } from '../../voice/index.js'
import type { EngineRequest } from '../work/file-engine.js'
import { copyPart } from './copy-part.js'
import { encodeAudio } from './encode-audio.js'
import { fileError } from './file-error.js'
import { type FilePart, rangeOfPart } from './file-part.js'
import { firstPacketSec } from './first-packet.js'
import { regeneratedTrack } from './regenerated-track.js'
import { resultEncoding } from './result-encoding.js'

interface ResultOptions extends Pick<EngineRequest, 'media' | 'output' | 'outputType' | 'signal'> {
  readonly part: FilePart | undefined
  readonly pool: VoicePool
  readonly tally: VoiceTally
  readonly onProgressSec: (doneSec: number) => void
}

/** Writes the regenerated file and returns its extension. Throws the errors of `processFile`. */
export async function writeResult(options: ResultOptions): Promise<string> {
  const type = options.outputType ?? soundType(options.media)
  if (type) return writeSound(type, options)
  // Packets can be cut only between two of them, but sound is encoded from any sample.
  const isOnlySound = options.media.streams.length === 1
  return options.part && !isOnlySound
    ? writeFilmPart(options.part, options)
    : writeLikeInput(options.media, voiceOf(options), options)
}

/** Writes a sound file of one of the interface's types. */
async function writeSound(type: OutputType, options: ResultOptions): Promise<string> {
  const { media, part, output, signal } = options
  const track = onlyTrack(media)
  const encoding = resultEncoding(type, track)
  // The time codes and cue points of the file would be wrong for a part.
  const isWhole = type === 'wav' && media.container === 'wav' && !part
  await encodeAudio(voiceOf(options), encoding, output, { media, keepChapters: !part, signal })
  if (isWhole) await copyWaveChunks(media.path, output)
  return type
}

/** Writes a file again with its voice regenerated and every other packet unchanged. */
async function writeLikeInput(media: MediaInfo, voice: PcmStream, { output, signal }: ResultOptions): Promise<string> {
  const { audioIndex } = onlyTrack(media)
  requireCopyablePictures(media)
  const plan = planMux(media, { replaced: [audioIndex] })
  await mux(plan, new Map([[audioIndex, voice]]), output, { signal })
  return plan.container === 'mkv' && !pictureOf(media) ? 'mka' : plan.container
}

/**
 * Writes a part of a film. Cuts the packets by stream copy first; the cut is then an ordinary file. The pictures begin at
 * a key frame, which can lie before the part. The sound is that of the part alone, behind silence.
 */
async function writeFilmPart(part: FilePart, options: ResultOptions): Promise<string> {
  const { media, signal } = options
  const cut = `${options.output}.cut`
  requireCopyablePictures(media)
  try {
    const firstSec = await copyPart(media, part, cut, signal)
    const film = await probe(cut, { signal })
    const zeroSec = firstSec - ((await firstPacketSec(film, null, signal)) ?? 0)
    const startSec = Math.max(part.startSec, zeroSec)
    const silentSamples = Math.round((startSec - zeroSec) * onlyTrack(media).sampleRate)
    return await writeLikeInput(
      film,
      behindSilence(voiceOf({ ...options, part: { ...part, startSec } }), silentSamples),
      options,
    )
  } finally {
    await rm(cut, { force: true })
  }
}

function voiceOf({ media, part, pool, signal, tally, onProgressSec }: ResultOptions): PcmStream {
  const track = onlyTrack(media)
  const range = part ? rangeOfPart(part, track) : undefined
  return regeneratedTrack(media, track.audioIndex, { pool, range, signal, tally, onProgressSec })
}

function behindSilence(voice: PcmStream, silentSamples: number): PcmStream {
  return {
    format: voice.format,
    sampleCount: voice.sampleCount === null ? null : silentSamples + voice.sampleCount,
    async *buffers() {
      yield* silentPcm(voice.format, silentSamples).buffers()
      yield* voice.buffers()
    },
  }
}

function onlyTrack(media: MediaInfo): AudioStreamInfo {
  const [track] = audioStreams(media)
  if (track) return track
  throw fileError(-18, 'ERR_NO_AUDIO', `${media.path} has no audio track.`, { input: media.path })
}

/** The codec of the interface's types whose containers hold others too. */
const CODECS: Readonly<Partial<Record<OutputType, string>>> = { m4a: 'aac', ogg: 'vorbis' }

/** The interface's type that matches the file; undefined for films and for other kinds of sound. */
function soundType(media: MediaInfo): OutputType | undefined {
  if (pictureOf(media)) return undefined
  const type = outputTypeSchema.options.find((name) => name === media.container)
  const codec = type && CODECS[type]
  return codec === undefined || codec === audioStreams(media)[0]?.codec ? type : undefined
}
