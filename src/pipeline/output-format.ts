import { extname } from 'node:path'
import type { OutputType } from '../contract/index.js'
import { UsageError } from '../core/errors.js'
import type { MediaInfo } from '../media/media-info.js'
import { isMediaName } from './expand-inputs.js'

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

/** Further extensions under which a format is rightly named. */
const ALSO_NAMED: Readonly<Record<string, readonly string[]>> = { opus: ['ogg'], m4a: ['mp4'] }

/**
 * The format that `--output-type` asks for.
 *
 * @param outputFile the output as typed, where it is a file's name
 * @throws {UsageError} `ERR_OUTPUT_TYPE_VIDEO` for a film: its container is the film's; `ERR_OUTPUT_TYPE_NAME` where
 *   the output's name says another format: what is in `x.wav` is never MP3
 */
export function outputFormat(media: MediaInfo, outputType: OutputType, outputFile: string | undefined) {
  refuseVideo(media)
  refuseOtherName(media, outputType, outputFile)
  return FORMATS[outputType]
}

function refuseOtherName({ path }: MediaInfo, outputType: OutputType, outputFile: string | undefined): void {
  // What stands after the dot of `take.v2` is no format.
  if (outputFile === undefined || !isMediaName(outputFile)) return
  const extension = ALIASES[extensionOf(outputFile)] ?? extensionOf(outputFile)
  if (extension === outputType || ALSO_NAMED[outputType]?.includes(extension)) return
  throw new UsageError('ERR_OUTPUT_TYPE_NAME', `${outputFile} is not the name of a file of the type ${outputType}.`, {
    input: path,
    remedies: ['Leave --output-type out: the name of the output says its format. Or name the output otherwise.'],
  })
}

function refuseVideo(media: MediaInfo): void {
  if (media.streams.some((stream) => stream.kind === 'video' && !stream.isCover)) {
    throw new UsageError('ERR_OUTPUT_TYPE_VIDEO', `${media.path} is a video: --output-type is for audio files.`, {
      input: media.path,
      remedies: ['Leave --output-type out: the output keeps the format of the video.'],
    })
  }
}

/** The container that the name of an output file asks for; undefined for the input's own. */
export function namedContainer(media: MediaInfo, outputFile: string | undefined): string | undefined {
  const extension = extensionOf(outputFile ?? '')
  if (extension === '' || extension === extensionOf(media.path)) return undefined
  return ALIASES[extension] ?? extension
}

function extensionOf(path: string): string {
  return extname(path).slice(1).toLowerCase()
}
