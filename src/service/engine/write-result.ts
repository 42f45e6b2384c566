import type { OutputType } from '../../contract/index.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../../media/index.js'
import type { VoicePool, VoiceTally } from '../../voice/index.js'
import { audioEncoding } from './audio-encoding.js'
import { encodeAudio } from './encode-audio.js'
import { fileError } from './file-error.js'
import { type FilePart, rangeOfPart } from './file-part.js'
import { regeneratedTrack } from './regenerated-track.js'

export interface ResultOptions {
  readonly media: MediaInfo
  readonly part: FilePart | undefined
  readonly output: string
  readonly outputType?: OutputType | undefined
  readonly pool: VoicePool
  readonly signal: AbortSignal
  readonly tally: VoiceTally
  readonly onProgressSec: (doneSec: number) => void
}

/** Writes the regenerated file and says what extension it deserves. Errors as `processFile`. */
export async function writeResult(options: ResultOptions): Promise<string> {
  const { media, part, output, pool, signal, tally, onProgressSec } = options
  const track = onlyTrack(media)
  const range = part ? rangeOfPart(part, track) : undefined
  const voice = regeneratedTrack(media, track.audioIndex, { pool, range, signal, tally, onProgressSec })
  const type = options.outputType ?? ownType(media, track)
  await encodeAudio(voice, audioEncoding(type, track), output, { media, keepChapters: !part, signal })
  return type
}

function onlyTrack(media: MediaInfo): AudioStreamInfo {
  const [track] = audioStreams(media)
  if (track) return track
  throw fileError(-18, 'ERR_NO_AUDIO', `${media.path} has no audio track.`, media.path)
}

/** The interface's type that an audio file is of already. */
function ownType({ container, path }: MediaInfo, track: AudioStreamInfo): OutputType {
  switch (container) {
    case 'wav':
    case 'w64':
      return 'wav'
    case 'flac':
    case 'mp3':
    case 'aiff':
    case 'aac':
    case 'm4a':
    case 'opus':
      return container
    case 'ogg':
      return track.codec === 'opus' ? 'opus' : 'ogg'
    default:
      throw fileError(-16, 'ERR_UNSUPPORTED_CONTAINER', `${path}: ${container} cannot be written.`, path)
  }
}
