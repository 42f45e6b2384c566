import { PrecheckError, UsageError, VerificationError } from '../../../src/core/errors.js'
import type { SplicePiece } from '../../../src/media/align/splice.js'
import type * as Media from '../../../src/media/index.js'
import type { CutRequest, VoiceCut } from '../../../src/media/voice-cut.js'
import { type MuxOptions, planMux } from '../../../src/media/write/remux/mux-plan.js'
import { type MediaBytes, readMedia, sha256, voiceOf, writeMedia } from '../world/media-bytes.js'
import type { World } from '../world/world.js'
import { openFile } from './file-handle.js'
import { mediaInfo } from './media-info.js'

const PCM = { sampleRate: 48_000, channels: 2, channelLayout: 'stereo', sample: 's16' } as const
const QUIET = { integratedLufs: -23, truePeakDbtp: -6, rangeLu: 3 }
/** Simulated PCM carries its source beside it. */
type TracedPcm = Media.PcmStream & { readonly source?: string }

/** What voxmux asks of ffmpeg and ffprobe, done to simulated media: the same readings and writings, at the same times. */
export function simulatedMedia(world: World) {
  const { tree, random } = world ?? {}
  const read = (path: string) => world.perform('read', () => tree.file(path, 'open').bytes)
  /** A child process works. */
  const work = (mostMs: number) => world.later(random.between(1, mostMs), () => {})
  const write = async (path: string, bytes: Buffer) => {
    const half = bytes.length >> 1
    const handle = await world.perform('open', () => openFile(world, path, 'w'))
    await handle.write(bytes, 0, half)
    await work(50)
    await handle.write(bytes, half, bytes.length - half)
    return handle
  }
  const probe = async (path: string): Promise<Media.MediaInfo> => {
    const bytes = await read(path).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT'
        ? new UsageError('ERR_INPUT_MISSING', `${path} does not exist.`, { cause: error, input: path })
        : error
    })
    await work(20)
    const media = readMedia(bytes)
    if (!media) throw new PrecheckError('ERR_UNREADABLE', `${path} breaks off.`, { input: path, errorCode: -2 })
    return mediaInfo(path, bytes.length, media.sec)
  }

  return {
    probe,
    findFfmpeg: async () => ({ path: 'ffmpeg', version: 'simulated' }),
    findFfprobe: async () => ({ path: 'ffprobe', version: 'simulated' }),
    measureEncoders: async () => {},
    async cutVoice(info: Media.MediaInfo, requests: readonly CutRequest[]): Promise<VoiceCut[]> {
      const film = readMedia(await read(info.path))
      if (!film) throw new PrecheckError('ERR_UNREADABLE', `${info.path} breaks off.`, { input: info.path })
      await work(400)
      const bytes = writeMedia({ kind: 'voice', voice: voiceOf(film), sec: film.sec })
      const sampleCount = Math.round(film.sec * 48_000)
      const cuts: VoiceCut[] = []
      for (const request of requests) {
        const path = `${request.targetWithoutExtension}.flac`
        const pcm = { path, format: PCM, sampleCount }
        await (await write(path, bytes)).close()
        cuts.push({
          ...{ request, path, format: 'flac', sampleRate: 48_000, channels: 2, channelLayout: 'stereo', sampleCount },
          ...{ range: { startSample: 0, endSample: sampleCount }, sizeBytes: bytes.length, pcm },
          voiceHash: sha256(bytes),
        })
      }
      return cuts
    },
    async alignVoice({ path }: VoiceCut, audioPath: string): Promise<Media.VoiceAlignment> {
      const [cut, answer] = [readMedia(await read(path)), readMedia(await read(audioPath))]
      await work(100)
      if (answer?.kind !== 'regenerated')
        throw new VerificationError('ERR_ANSWER_UNREADABLE', `${audioPath} cannot be read as audio.`)
      if (answer.voice !== cut?.voice) throw new VerificationError('ERR_ALIGNMENT', `${audioPath} is another sound.`)
      const pcm = { path: audioPath, format: PCM, sampleCount: 1 }
      return { lagSamples: 0, match: 1, method: 'waveform', regenerated: { pcm, startSample: 0 } }
    },
    alignedVoice: (cut: VoiceCut, { regenerated }: Media.VoiceAlignment): TracedPcm =>
      pcm(cut.sampleCount, regenerated.pcm.path),
    soundChange: async () => ({ changedSec: 1, removedDb: 6 }),
    isSameSound: async () => false,
    measureLoudness: async () => QUIET,
    async *soundPairs() {},
    decodePcm: (): TracedPcm => pcm(null, ''),
    splice: ({ pieces }: { readonly pieces: readonly SplicePiece[] }) => pieces[0]?.voice,
    meteredPcm: (stream: TracedPcm) => ({ stream, loudness: () => QUIET }),
    rehearseMux: async () => {},
    planOutput: async (info: Media.MediaInfo, options: MuxOptions) => planMux(info, options),
    async writeOutput(
      plan: Media.MuxPlan,
      voices: ReadonlyMap<number, TracedPcm>,
      part: string,
    ): Promise<Media.MuxResult> {
      const film = readMedia(await read(plan.media.path))
      const answer = readMedia(await read(voices.get(0)?.source ?? ''))
      await work(300)
      if (!film || !('picture' in film) || answer?.kind !== 'regenerated') throw new Error('The mux got no media.')
      const handle = await write(part, writeMedia({ ...answer, kind: 'output', picture: film.picture }, 40))
      await handle.sync()
      await handle.close()
      return {
        runs: [['simulated']],
        voices: [],
        layout: null,
        packetHashes: new Map([[0, film.picture]]),
        packetTimes: new Map(),
      }
    },
    async verifyOrRewrite(plan: Media.MuxPlan, muxed: Media.MuxResult, part: string) {
      const output = readMedia(await read(part)) as MediaBytes | undefined
      if (output?.kind !== 'output' || output.picture !== muxed.packetHashes.get(0))
        throw new VerificationError('ERR_VERIFY_FAILED', `${part} is not what it should be.`)
      const copied = { inputIndex: 0, outputIndex: 0, fate: 'copied', packetHash: null, reason: null } as const
      const info = mediaInfo(part, 1, output.sec)
      const verification: Media.MuxVerification = {
        level: 'full',
        streams: [copied],
        sync: [],
        checks: ['simulated'],
        output: { ...info, container: plan.container },
      }
      return { muxed, verification }
    },
  }
}

function pcm(sampleCount: number | null, source: string): TracedPcm {
  return { format: PCM, sampleCount, source, async *buffers() {} }
}
