import { Readable } from 'node:stream'
import {
  fileUrl,
  type MediaInfo,
  type PcmStream,
  rawFormatName,
  runFfmpeg,
  safeInputOptions,
} from '../../media/index.js'
import type { ResultEncoding } from './result-encoding.js'

interface EncodeOptions {
  /** Source of the titles, chapters and cover. */
  readonly media: MediaInfo
  /** False for a part of the file, because the chapters would be at the wrong times. */
  readonly keepChapters: boolean
  readonly signal?: AbortSignal | undefined
}

/** Writes a voice as an audio file with the tags of its source. @throws as ffmpeg's runner and the stream do */
export async function encodeAudio(
  voice: PcmStream,
  encoding: ResultEncoding,
  output: string,
  { media, keepChapters, signal }: EncodeOptions,
): Promise<void> {
  const { sampleRate, channels, sample } = voice.format
  const cover = encoding.takesCover
    ? media.streams.find((stream) => stream.kind === 'video' && stream.isCover)
    : undefined
  const failures: unknown[] = []
  const source = async function* () {
    try {
      yield* voice.buffers()
    } catch (error) {
      failures.push(error)
      throw error
    }
  }
  try {
    await runFfmpeg(
      {
        inputs: [
          {
            url: Readable.from(source(), { objectMode: false }),
            options: ['-f', rawFormatName(sample), '-ar', String(sampleRate), '-ac', String(channels)],
          },
          { url: fileUrl(media.path), options: safeInputOptions(media) },
        ],
        outputs: [
          {
            url: fileUrl(output),
            options: [
              ...[
                '-map',
                '0:a',
                ...(cover ? ['-map', `1:${cover.index}`, '-c:v', 'copy', '-disposition:v', 'attached_pic'] : []),
              ],
              ...['-map_metadata', '1', '-map_chapters', keepChapters ? '1' : '-1'],
              ...encoding.options,
              ...['-f', encoding.muxer],
            ],
          },
        ],
      },
      { signal, input: media.path },
    )
  } catch (error) {
    // ffmpeg only reports that its input ended early; this is the cause.
    throw failures[0] ?? error
  }
}
