import { extname } from 'node:path'
import type { OutputType } from '../../contract/index.js'
import { UsageError } from '../../core/errors.js'
import { containerProfile } from '../../media/index.js'
import { type MediaInfo, pictureOf } from '../../media/media-info.js'
import { isMediaName } from './expand-inputs.js'

/** Container and codec of each output type. wav and aiff keep the voice's kind of PCM. */
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

/** Extensions that are written in another container. */
const ALIASES: Readonly<Record<string, string>> = {
  wave: 'wav',
  bwf: 'wav',
  aif: 'aiff',
  aifc: 'aiff',
  mpeg: 'mpg',
  mts: 'm2ts',
  oga: 'ogg',
  ogv: 'ogg',
  m4b: 'm4a',
}

/** Other valid extensions of a format. */
const ALSO_NAMED: Readonly<Record<string, readonly string[]>> = { opus: ['ogg'], m4a: ['mp4'] }

/**
 * The format for `--output-type`.
 *
 * @param outputFile the output as typed, if it names a file
 * @throws {UsageError} `ERR_OUTPUT_TYPE_VIDEO` for a film, which keeps its container; `ERR_OUTPUT_TYPE_NAME` if the
 * output's name contradicts the type, because `x.wav` must never contain MP3
 */
export function outputFormat(media: MediaInfo, outputType: OutputType, outputFile: string | undefined) {
  refuseVideo(media)
  refuseOtherName(media, outputType, outputFile)
  return FORMATS[outputType]
}

function refuseOtherName({ path }: MediaInfo, outputType: OutputType, outputFile: string | undefined): void {
  // In `take.v2` the text after the dot is not a format.
  if (outputFile === undefined || !isMediaName(outputFile)) return
  const extension = ALIASES[extensionOf(outputFile)] ?? extensionOf(outputFile)
  if (extension === outputType || ALSO_NAMED[outputType]?.includes(extension)) return
  throw new UsageError('ERR_OUTPUT_TYPE_NAME', `The name ${outputFile} does not match --output-type ${outputType}.`, {
    input: path,
    remedies: ['Leave out --output-type, so that the name decides the format, or change the name.'],
  })
}

function refuseVideo(media: MediaInfo): void {
  if (pictureOf(media)) {
    throw new UsageError(
      'ERR_OUTPUT_TYPE_VIDEO',
      `${media.path} is a video, and only audio files can get another format.`,
      {
        input: media.path,
        remedies: ['Leave out --output-type: the output keeps the format of the video.'],
      },
    )
  }
}

/**
 * The container that an output's name asks for; undefined for the input's own.
 *
 * @throws {UsageError} `ERR_CONTAINER_UNKNOWN` for the input's own extension if its format cannot be written, because
 * `x.amr` must never contain Matroska
 */
export function namedContainer(media: MediaInfo, outputFile: string | undefined): string | undefined {
  const extension = extensionOf(outputFile ?? '')
  if (extension === '') return undefined
  const named = ALIASES[extension] ?? extension
  if (extension !== extensionOf(media.path)) return named
  if (containerProfile(media.container)) return undefined
  // Not the input's own format, but one of that name: AAC as LATM becomes ADTS.
  if (containerProfile(named)) return named
  throw new UsageError(
    'ERR_CONTAINER_UNKNOWN',
    `voxmux cannot write ${outputFile}, because it only reads .${extension} files.`,
    {
      input: media.path,
      remedies: ['Name the output .mkv, .mka or .wav, or leave out --output.'],
    },
  )
}

function extensionOf(path: string): string {
  return extname(path).slice(1).toLowerCase()
}
