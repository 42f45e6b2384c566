/** One row of the interface's table of file error codes (section "File error codes"). */
export interface FileErrorInfo {
  /** The code in status entries and webhook messages: 0 or -1 … -18. */
  readonly code: FileErrorCode
  /** Stable name, PascalCase. */
  readonly name: string
  /** The interface's meaning, as a sentence. */
  readonly meaning: string
  /** Next steps of the user, most useful first. Empty only for 0. */
  readonly remedies: readonly string[]
}

/** The nineteen values of `errorCode`, in the interface's order. */
export const FILE_ERROR_CODES = [
  0, -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -15, -16, -17, -18,
] as const

export type FileErrorCode = (typeof FILE_ERROR_CODES)[number]

const TABLE: { readonly [C in FileErrorCode]: Omit<FileErrorInfo, 'code'> } = {
  0: { name: 'None', meaning: 'No error.', remedies: [] },
  [-1]: {
    name: 'SystemError',
    meaning: 'System error.',
    remedies: [
      'Run the same command again: nothing is charged twice.',
      'If it fails again, send the file id in the receipt or in `voxmux jobs show` to the operator of the service.',
    ],
  },
  [-2]: {
    name: 'CorruptedFile',
    meaning: 'File corrupted or unreadable.',
    remedies: [
      'Copy or export the file again, and wait until the copy is complete.',
      'Play it to the end in a media player. A truncated file stops early or does not open.',
    ],
  },
  [-3]: {
    name: 'NotEnoughVoice',
    meaning: 'Not enough voice content.',
    remedies: [
      'If there are several tracks, choose the one that carries the dialogue with --track.',
      'Choose the part that contains speech with --segment.',
    ],
  },
  [-4]: {
    name: 'MultiChannelVoiceNotSupported',
    meaning: 'Multi-channel voice unsupported.',
    remedies: [
      'Use --channels center to regenerate only the dialogue channel of 5.1 or 7.1.',
      'Use --channels each to send every channel as a separate file.',
      'Use --channels downmix to get a stereo voice.',
    ],
  },
  [-5]: {
    name: 'AudioQualityTooHigh',
    meaning: 'Audio quality exceeds supported limits.',
    remedies: ['Export the audio at 48 kHz and 16 or 24 bits.'],
  },
  [-6]: {
    name: 'AudioQualityTooLow',
    meaning: 'Audio quality below minimum.',
    remedies: ['Use the original recording with the highest sample rate. Upsampling does not restore what is missing.'],
  },
  [-7]: {
    name: 'UnsupportedCodec',
    meaning: 'Media codec unsupported.',
    remedies: ['Convert the audio to a common codec first (PCM, FLAC, AAC, MP3, Opus).'],
  },
  [-8]: {
    name: 'MultiTrackAudioNotSupported',
    meaning: 'Multi-track audio unsupported.',
    remedies: [
      'Choose one track with --track N (counted from 0), --track default or --track lang:xxx.',
      'Use --track all to regenerate every audio track.',
    ],
  },
  [-9]: {
    name: 'UnknownValidationError',
    meaning: 'Unknown validation error.',
    remedies: ['Convert the file to a common container and codec, for example MP4 with AAC, and run again.'],
  },
  [-10]: {
    name: 'NotEnoughCredits',
    meaning: 'Not enough credits.',
    remedies: ['Add credits to the account (embedded service: `voxmux portal credits set`), then run again.'],
  },
  [-11]: {
    name: 'NotFound',
    meaning: 'File not found.',
    remedies: ['Run the same command again. The service no longer has the file, so voxmux sends it again.'],
  },
  [-12]: {
    name: 'TimeOut',
    meaning: 'Processing timed out.',
    remedies: ['Run the same command again.', 'Send long files in parts with --chunk 10m.'],
  },
  [-13]: {
    name: 'FileSizeTooLarge',
    meaning: 'File size exceeds the allowed limit.',
    remedies: [
      'Send only the voice, which is the default: leave --remote out.',
      'Send it in parts with --chunk 10m or --segment.',
    ],
  },
  [-14]: {
    name: 'DurationTooShort',
    meaning: 'Duration below the minimum.',
    remedies: ['Choose a longer part. Very short sounds contain no voice to regenerate.'],
  },
  [-15]: {
    name: 'DurationTooLong',
    meaning: 'Duration above the maximum.',
    remedies: ['Send it in parts with --chunk 10m, or choose parts with --segment.'],
  },
  [-16]: {
    name: 'UnsupportedMediaContainer',
    meaning: 'Media container unsupported.',
    remedies: [
      'Remux into a common container first, for example `ffmpeg -i in -c copy out.mkv`.',
      'If ffmpeg cannot copy its streams, convert them: `ffmpeg -i in out.mkv`.',
    ],
  },
  [-17]: {
    name: 'InputFileDownloadFailed',
    meaning: 'Service could not download the input from the provided URL (expired or not public).',
    remedies: [
      'Check that the link opens without signing in and stays valid for at least an hour.',
      'Leave --remote out. voxmux then downloads the file here and sends only the voice.',
    ],
  },
  [-18]: {
    name: 'NoAudioStreamsFound',
    meaning: 'No audio streams in the file.',
    remedies: ['Check that you chose the right file. This one has no audio at all.'],
  },
}

/**
 * Looks up a file error code.
 *
 * @param code 0 or -1 … -18
 * @returns name, meaning and remedies (interface, "File error codes")
 */
export function fileErrorInfo(code: FileErrorCode): FileErrorInfo {
  return { code, ...TABLE[code] }
}
