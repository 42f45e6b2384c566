import { extname } from 'node:path'
import type { OutputType } from '../contract/index.js'
import { UsageError } from '../core/errors.js'
import type { MediaInfo } from '../media/media-info.js'

/** Container and codec of each output type; wav and aiff keep the kind of PCM that the voice has. */
const FORMATS: { readonly [T in OutputType]: { readonly container: string; readonly audioCodec?: string } } = {
  wav: { container: 'wav' },
  aiff: { container: 'aiff' },
  flac: { container: 'flac', audioCodec: 'flac' },
  mp3: { container: 'mp3', audioCodec: 'mp3' },
  ogg: { container: 'ogg', audioCodec: 'vorbis' },
  opus: { container: 'opus', audioCodec: 'opus' },
  aac: { container: 'aac', audioCodec: 'aac' },
  m4a: { container: 'm4a', audioCodec: 'aac' },
}

/** Extensions that are written as another container's. */
const ALIASES: Readonly<Record<string, string>> = {
  wave: 'wav',
  bwf: 'wav',
  aif: 'aiff',
  aifc: 'aiff',
  mpeg: 'mpg',
  mts: 'm2ts',
  oga: 'ogg',
  m4b: 'm4a',
}

/**
 * The format that `--output-type` asks for.
 *
 * @throws {UsageError} `ERR_OUTPUT_TYPE_VIDEO` for a film: its container is the film's
 */
export function outputFormat(media: MediaInfo, outputType: OutputType) {
  if (media.streams.some((stream) => stream.kind === 'video' && !stream.isCover)) {
    throw new UsageError('ERR_OUTPUT_TYPE_VIDEO', `${media.path} is a video: --output-type is for audio files.`, {
      input: media.path,
      remedies: ['Leave --output-type out: the output keeps the format of the video.'],
    })
  }
  return FORMATS[outputType]
}

/** The container that the name of an output file asks for; undefined for the input's own. */
export function namedContainer(media: MediaInfo, outputFile: string | undefined): string | undefined {
  const extension = extname(outputFile ?? '')
    .slice(1)
    .toLowerCase()
  if (extension === '' || extension === extname(media.path).slice(1).toLowerCase()) return undefined
  return ALIASES[extension] ?? extension
}
