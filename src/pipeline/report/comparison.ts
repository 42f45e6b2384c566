import { join } from 'node:path'
import { fileUrl, type MediaInfo, runFfmpeg, safeInputOptions } from '../../media/index.js'
import { type Receipt, regeneratedStreams } from '../output/receipt.js'

/** One side of a comparison. Each property is the path of a file, or a data address on a standalone page. */
export interface Side {
  /** AAC in MP4. */
  readonly audio: string
  /** PNG on a transparent background, as wide as the spectrogram. */
  readonly waveform: string
  /** PNG, up to 12 kHz. */
  readonly spectrogram: string
}

/** A regenerated track, before and after. */
export interface Comparison {
  readonly audioIndex: number
  /** Start of the excerpt in the file. */
  readonly startSec: number
  readonly lengthSec: number
  /** False if only an excerpt fits the page. */
  readonly isWhole: boolean
  /** The regenerated parts of the file; empty if that is all of it. */
  readonly parts: readonly { readonly startSec: number; readonly endSec: number }[]
  readonly before: Side
  readonly after: Side
}

/** A file, with the options to read it correctly. */
type ComparedFile = Pick<MediaInfo, 'path' | 'readOptions' | 'decoderOptions'>

export interface ComparisonOptions {
  /** The probed input and output (or its part file). */
  readonly before: ComparedFile
  readonly after: ComparedFile
  readonly durationSec: number | null
  /** Folder for the files. It must exist. */
  readonly workFolder: string
  readonly signal: AbortSignal
  /** Seconds of all players of a page together; ten minutes by default. */
  readonly mostSec?: number | undefined
}

/** Seconds of all players of a page together. At 96 kbit/s that is about 10 MB per side. */
const MOST_SEC = 600
/** An excerpt begins this many seconds before the first regenerated part. */
const LEAD_SEC = 3
const WIDTH = 1200

/** Players and pictures of every replaced track, in one pass. @throws ffmpeg's faults; InterruptedError */
export async function compareTracks(
  receipt: Pick<Receipt, 'streams' | 'segments' | 'voices'>,
  options: ComparisonOptions,
): Promise<readonly Comparison[]> {
  // A track and its copy in the output have the same index.
  const sounds = [...new Set(receipt.streams.flatMap(({ kind, index }) => (kind === 'audio' ? [index] : [])))]
  const replaced = regeneratedStreams(receipt).flatMap(({ index, outputIndex }) => {
    return index === null || outputIndex === null ? [] : [{ audioIndex: sounds.indexOf(index), index, outputIndex }]
  })
  const most = (options.mostSec ?? MOST_SEC) / Math.max(1, replaced.length)
  const duration = options.durationSec ?? most
  const isWhole = duration <= most
  const first = receipt.segments[0]?.startSec ?? 0
  const startSec = isWhole ? 0 : Math.max(0, Math.min(first - LEAD_SEC, duration - most))
  const excerpt = { startSec, lengthSec: Math.min(most, duration) }
  // Within a tenth of a second of both ends, a part is the whole file.
  const isPart = receipt.segments.some(({ startSec, endSec }) => startSec > 0.1 || endSec < duration - 0.1)
  const parts = isPart ? receipt.segments : []
  const made: Comparison[] = []
  for (const { audioIndex, index, outputIndex } of replaced) {
    const [before, after] = await Promise.all([
      sideOf({ file: options.before, streamIndex: index, name: `before-${audioIndex}` }, excerpt, options),
      sideOf({ file: options.after, streamIndex: outputIndex, name: `after-${audioIndex}` }, excerpt, options),
    ])
    made.push({ audioIndex, ...excerpt, isWhole, parts, before, after })
  }
  return made
}

async function sideOf(
  { file, streamIndex, name }: { readonly file: ComparedFile; readonly streamIndex: number; readonly name: string },
  { startSec, lengthSec }: { readonly startSec: number; readonly lengthSec: number },
  { workFolder, signal }: ComparisonOptions,
): Promise<Side> {
  const path = (extension: string) => join(workFolder, `report-${name}.${extension}`)
  const [audio, waveform, spectrogram] = [path('m4a'), path('wave.png'), path('spectrum.png')] as const
  const picture = ['-frames:v', '1', '-f', 'image2', '-c:v', 'png']
  await runFfmpeg(
    {
      inputs: [
        {
          url: fileUrl(file.path),
          options: [...safeInputOptions(file), '-ss', String(startSec), '-t', String(lengthSec)],
        },
      ],
      filterComplex: [
        // 48 kHz and at most two channels: every browser plays that, whatever the file has.
        `[0:${streamIndex}]aresample=48000:async=1:first_pts=0,aformat=channel_layouts=stereo|mono,asplit=3[audio][w][s]`,
        `[w]showwavespic=s=${WIDTH}x140:split_channels=0:scale=sqrt:colors=0x3b82c4[waveform]`,
        `[s]showspectrumpic=s=${WIDTH}x256:legend=0:mode=combined:stop=12000[spectrogram]`,
      ].join(';'),
      outputs: [
        // Every ffmpeg can write AAC in MP4, and every browser plays it.
        {
          url: fileUrl(audio),
          options: ['-map', '[audio]', '-c:a', 'aac', '-b:a', '96k', '-movflags', '+faststart', '-f', 'mp4'],
        },
        { url: fileUrl(waveform), options: ['-map', '[waveform]', ...picture] },
        { url: fileUrl(spectrogram), options: ['-map', '[spectrogram]', ...picture] },
      ],
    },
    { signal, input: file.path },
  )
  return { audio, waveform, spectrogram }
}
