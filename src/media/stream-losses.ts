import type { StreamInfo } from './media-info.js'
import type { MuxLoss } from './mux-losses.js'

/** Containers that say nothing of a stream's language … */
const WITHOUT_LANGUAGE = new Set([
  ...['avi', 'flv', 'mpg', 'mxf', 'wav', 'w64', 'flac', 'mp3', 'mp2', 'aiff', 'ac3', 'eac3', 'aac', 'caf', 'au', 'wv'],
  'tta',
])
/** … or in three letters alone … */
const THREE_LETTERS = new Set(['mp4', 'mov', 'm4v', 'm4a', '3gp', '3g2', 'ts', 'm2ts'])
/** … or of its title. */
const WITH_TITLE = new Set(['mp4', 'mov', 'm4v', 'm4a', '3gp', '3g2', 'mkv', 'webm', 'avi', 'ogg', 'opus'])

const ROLES = ['dub', 'comment', 'forced', 'hearing_impaired', 'visual_impaired']
/** Dispositions that ffmpeg writes into a container; into others none. */
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
/** Which track plays by itself is worth a word only where it is not the first of its kind anyway. */
const UNREMARKABLE = new Set(['default', 'attached_pic', 'still_image', 'timed_thumbnails', 'dependent', 'metadata'])

/** What a stream that is written says of itself and the target does not. */
export function streamLosses(written: readonly StreamInfo[], container: string): readonly MuxLoss[] {
  return written.flatMap((input) => {
    if (!['video', 'audio', 'subtitle'].includes(input.kind)) return []
    const name = `${input.kind} stream ${input.index}`
    const lost = (what: string, reason: string) => ({ what: `${what} of ${name}`, stream: input.index, reason })
    const unwritten = input.dispositions.filter(
      (disposition) => !UNREMARKABLE.has(disposition) && !(DISPOSITIONS[container] ?? []).includes(disposition),
    )
    return [
      ...languageLoss(input.language, container).map((reason) => lost(`language (${input.language})`, reason)),
      ...(input.title !== null && !WITH_TITLE.has(container) ? [lost('title', `.${container} has none`)] : []),
      ...unwritten.map((disposition) => lost(`disposition ${disposition}`, `.${container} has no mark for it`)),
    ]
  })
}

function languageLoss(language: string | null, container: string): readonly string[] {
  if (language === null) return []
  if (WITHOUT_LANGUAGE.has(container)) return [`.${container} has none`]
  if (!THREE_LETTERS.has(container) || /^[a-z]{3}$/.test(language)) return []
  return [`.${container} has codes of three letters alone`]
}
