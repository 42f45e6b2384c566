import { type AudioStreamInfo, isSoundField, type StreamInfo } from '../../media-info.js'
import type { AudioEncoding } from '../encode/audio-encoding.js'
import type { MuxLoss } from './mux-losses.js'

/** Containers that keep no language of a stream … */
const WITHOUT_LANGUAGE = new Set([
  ...['avi', 'flv', 'mpg', 'mxf', 'wav', 'w64', 'flac', 'mp3', 'mp2', 'aiff', 'ac3', 'eac3', 'aac', 'caf', 'au', 'wv'],
  'tta',
])
/** … or only a code of three letters. */
const THREE_LETTERS = new Set(['mp4', 'mov', 'm4v', 'm4a', '3gp', '3g2', 'ts', 'm2ts'])
/** Containers that keep the title of a stream. */
const WITH_TITLE = new Set(['mp4', 'mov', 'm4v', 'm4a', '3gp', '3g2', 'mkv', 'mka', 'webm', 'avi', 'ogg', 'opus'])

const ROLES = ['dub', 'comment', 'forced', 'hearing_impaired', 'visual_impaired']
/** Dispositions that ffmpeg writes into each container; it writes none into others. */
const DISPOSITIONS: Readonly<Record<string, readonly string[]>> = {
  mp4: ['default', 'captions', 'descriptions', ...ROLES],
  mov: ['default'],
  m4v: ['default'],
  m4a: ['default'],
  '3gp': ['default'],
  '3g2': ['default'],
  mkv: ['default', 'original', ...ROLES],
  webm: ['default', 'forced'],
  ts: ['hearing_impaired', 'visual_impaired', 'clean_effects'],
  m2ts: ['hearing_impaired', 'visual_impaired', 'clean_effects'],
}
/** Dispositions whose loss is not reported. */
const UNREMARKABLE = new Set(['default', 'attached_pic', 'still_image', 'timed_thumbnails', 'dependent', 'metadata'])

/** True if ffmpeg writes a disposition of a stream into a container. */
export function keepsDisposition(container: string, disposition: string): boolean {
  return (DISPOSITIONS[container] ?? []).includes(disposition)
}

/** Lists the facts of written streams that the target container cannot keep. */
export function streamLosses(written: readonly StreamInfo[], container: string): readonly MuxLoss[] {
  return written.flatMap((input) => {
    if (!['video', 'audio', 'subtitle'].includes(input.kind)) return []
    const name = `${input.kind} stream ${input.index}`
    const lost = (what: string, reason: string) => ({ what: `${what} of ${name}`, stream: input.index, reason })
    const unwritten = input.dispositions.filter(
      (disposition) => !UNREMARKABLE.has(disposition) && !keepsDisposition(container, disposition),
    )
    return [
      ...languageLoss(input.language, container).map((reason) => lost(`language (${input.language})`, reason)),
      ...(input.title !== null && !WITH_TITLE.has(container) ? [lost('title', `.${container} has none`)] : []),
      ...unwritten.map((disposition) => lost(`disposition ${disposition}`, `.${container} has no mark for it`)),
    ]
  })
}

interface NewSound {
  readonly input: AudioStreamInfo
  readonly encoding: AudioEncoding
}

/** Lists new tracks whose codec names each channel after a speaker, although the old one was a sound field. */
export function soundFieldLosses(made: readonly NewSound[], container: string): readonly MuxLoss[] {
  return made
    .filter(({ input, encoding }) => isSoundField(input) && encoding.codec !== input.codec)
    .map(({ input, encoding: { codec } }) => ({
      what: `channel layout (${input.channelLayout}) of audio stream ${input.index}`,
      stream: input.index,
      reason: `${codec} in .${container} has no mark for a sound field, so players take its channels for speakers`,
    }))
}

function languageLoss(language: string | null, container: string): readonly string[] {
  if (language === null) return []
  if (WITHOUT_LANGUAGE.has(container)) return [`.${container} has none`]
  if (!THREE_LETTERS.has(container) || /^[a-z]{3}$/.test(language)) return []
  return [`.${container} has only codes of three letters`]
}
