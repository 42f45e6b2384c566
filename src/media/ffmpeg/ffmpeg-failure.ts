import { freemem } from 'node:os'
import {
  JobFailedError,
  OTHER_DISK,
  outputTooLarge,
  type PrecheckError,
  TransientError,
  UsageError,
  type VoxmuxError,
  type VoxmuxErrorOptions,
} from '../../core/errors.js'
import { redactText } from '../../core/redact.js'
import { refusedFile } from '../refused-file.js'
import type { ChildEnd } from './child-process.js'

interface FailureRule {
  readonly pattern: RegExp
  readonly toError: (input: string, options: VoxmuxErrorOptions, freeBytes: number) => VoxmuxError
}

/** Most bytes that ffmpeg allocates at once (`max_alloc`). It reports a larger request as a lack of memory. */
const MOST_AT_ONCE_BYTES = 2 ** 31

/** Remedies for a container that voxmux does not open. */
export const REMUX_IT: readonly string[] = [
  'Remux it into a common container first, for example `ffmpeg -i in -c copy out.mkv`.',
  'If ffmpeg cannot copy its streams, convert them: `ffmpeg -i in out.mkv`.',
]

/** Messages of ffmpeg and ffprobe for faults that a person can fix, gravest first. Same wording from 4 to 7. */
const RULES: readonly FailureRule[] = [
  {
    pattern: /No space left on device|Disk quota exceeded/i,
    toError: (input, options) =>
      new TransientError('ERR_DISK_FULL', `A disk was full while voxmux processed ${input}.`, {
        ...options,
        remedies: [
          'Free some space for the output, the state folder and TMPDIR, then run again. You do not pay twice.',
          OTHER_DISK,
        ],
      }),
  },
  {
    pattern: /File too large/i,
    toError: (input, options) => outputTooLarge(`The output of ${input}`, options),
  },
  {
    pattern: /not on whitelist/i,
    toError: (input, options) =>
      refusedFile(-16, 'ERR_UNSUPPORTED_CONTAINER', `voxmux does not open files of this type: ${input}.`, {
        ...options,
        remedies: REMUX_IT,
      }),
  },
  {
    // Garbage that is taken for sound has features of every kind.
    pattern:
      /^(?!.*Invalid data found).*(?:is not implemented.*Could not open codec|(?:opening decoder|decoding stream|to decoder)[^\n]*not (?:yet )?implemented)/is,
    toError: (input, options) =>
      refusedFile(-7, 'ERR_UNSUPPORTED_CODEC', `The installed ffmpeg does not decode a track of ${input}.`, {
        ...options,
        remedies: [
          'Convert the audio to a common codec first (PCM, FLAC, AAC, MP3, Opus).',
          'A newer ffmpeg may decode it: xHE-AAC needs version 7.1.',
        ],
      }),
  },
  {
    pattern: /^(?!.*(?:opening decoder|decoding stream|to decoder)).*Not yet implemented in FFmpeg/im,
    toError: (input, options) =>
      refusedFile(-16, 'ERR_UNSUPPORTED_CONTAINER', `${input} is of a kind that ffmpeg does not read.`, {
        ...options,
        remedies: ['Save it in another format with the program that made it, for example as WAV.'],
      }),
  },
  {
    pattern: /Changing audio frame properties on the fly/i,
    toError: (input, options) =>
      refusedFile(-2, 'ERR_FORMAT_CHANGES', `A track of ${input} changes its sample rate or its channels midway.`, {
        ...options,
        remedies: ['Convert the track to one sample rate and one channel layout first.'],
      }),
  },
  {
    pattern: /moov atom not found/i,
    toError: (input, options) => unreadable(`${input} is truncated: its index (moov) is missing`, options),
  },
  {
    pattern:
      /Unknown encoder|Encoder not found|Unknown decoder|Decoder .*not found|No such filter|Error parsing filterchain|Unrecognized option/i,
    toError: (_input, options) =>
      new UsageError('ERR_FFMPEG_LACKS', 'The installed ffmpeg lacks a part that this file needs.', {
        ...options,
        remedies: ['Run `voxmux doctor` to see what is missing, and `voxmux doctor --install` for a full ffmpeg.'],
      }),
  },
  {
    // A muxer that refuses its streams does so with the words of a missing permission.
    pattern: /Could not write header[^\n]*Operation not permitted/i,
    toError: (input, options) =>
      new JobFailedError(
        'ERR_FFMPEG_FAILED',
        `ffmpeg cannot write the streams of ${input} into this container.`,
        options,
      ),
  },
  {
    // So does a decoder at damaged sound.
    pattern:
      /^(?!.*(?:while decoding stream|submitting packet to decoder)).*(?:Permission denied|Operation not permitted)/im,
    toError: (input, options) =>
      new UsageError('ERR_NOT_PERMITTED', `voxmux has no permission to read ${input} or to write the output.`, {
        ...options,
        remedies: ['Check the owner and the permissions of the file and its folder.'],
      }),
  },
  {
    // ffmpeg reports it as a lack of memory too.
    pattern: /Number of streams exceeds max_streams/i,
    toError: (input, options) =>
      unreadable(`${input} has more streams than ffmpeg reads`, {
        ...options,
        remedies: ['Export the file again with fewer tracks. If it is damaged, copy it again.'],
      }),
  },
  {
    // If memory is free, the index states more entries than any file has. A retry would find the same.
    pattern: /error reading header[\s\S]*Cannot allocate memory/i,
    toError: (input, options, freeBytes) =>
      freeBytes > MOST_AT_ONCE_BYTES
        ? unreadable(`The index of ${input} states more than fits into memory`, options)
        : outOfMemory(input, options),
  },
  {
    pattern: /Cannot allocate memory/i,
    toError: outOfMemory,
  },
  {
    pattern: /Input\/output error|Stale file handle|Transport endpoint/i,
    toError: (input, options) =>
      new TransientError('ERR_MEDIA_IO', `Reading or writing failed while voxmux processed ${input}.`, {
        ...options,
        remedies: ['Check the disk or network share, then run again.'],
      }),
  },
  {
    pattern:
      /Invalid data found|could not find codec parameters|EBML header parsing failed|End of file|while decoding stream|submitting packet to decoder/i,
    toError: (input, options) => unreadable(`${input} cannot be read as a media file`, options),
  },
]

/**
 * Turns a failed ffmpeg or ffprobe into a typed error.
 *
 * @param input the file being processed, as the user knows it
 * @param freeBytes memory that this computer has left
 */
export function ffmpegFailure(end: ChildEnd, input: string, freeBytes = freemem()): VoxmuxError {
  const said = redactText(end.stderrTail)
  const how = end.signal ? `killed by ${end.signal}` : `exit code ${end.exitCode}`
  const options = { input, cause: new Error(`${how}: ${said.slice(-2000)}`) }
  if (end.signal && end.signal !== 'SIGTERM') {
    return new TransientError('ERR_FFMPEG_KILLED', `ffmpeg was killed by ${end.signal} while processing ${input}.`, {
      ...options,
      remedies: ['Check that this computer has enough memory, then run again.'],
    })
  }
  const rule = RULES.find(({ pattern }) => pattern.test(said))
  if (rule) return rule.toError(input, options, freeBytes)
  return new JobFailedError('ERR_FFMPEG_FAILED', `ffmpeg failed on ${input}: ${lastErrorLine(said)}`, options)
}

/** The error of an unreadable file: the service's -2. */
export function unreadable(what: string, options: VoxmuxErrorOptions): PrecheckError {
  return refusedFile(-2, 'ERR_UNREADABLE', `${what}.`, {
    ...options,
    remedies: options.remedies ?? [
      'Copy or export the file again, and wait until the copy is complete.',
      'Play it to the end in a media player: a truncated file stops early or does not open.',
    ],
  })
}

/** The error of a track of which not a single sample can be decoded. */
export function soundless(input: string, audioIndex: number, cause?: unknown): PrecheckError {
  return unreadable(`Audio track ${audioIndex} of ${input} holds no sound that can be decoded`, { input, cause })
}

function outOfMemory(input: string, options: VoxmuxErrorOptions): TransientError {
  return new TransientError('ERR_OUT_OF_MEMORY', `ffmpeg ran out of memory while processing ${input}.`, {
    ...options,
    remedies: ['Close other programs or lower --concurrency, then run again.'],
  })
}

/** The last line that ffmpeg marked as an error, without the marks. */
function lastErrorLine(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '')
  const marked = lines.filter((line) => /\[(error|fatal|panic)\]/.test(line))
  const line = marked.at(-1) ?? lines.at(-1) ?? 'no message'
  return line.replace(/\[[^\]]*\]\s*/g, '').trim()
}
