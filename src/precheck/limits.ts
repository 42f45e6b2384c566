import { z } from 'zod'

const optionalCount = (description: string) => z.number().positive().optional().meta({ description })

/**
 * Limits of the files that a service accepts. An absent limit is unknown, and unknown limits are not checked locally.
 * The interface defines the errors -5, -6, -13, -14 and -15, but none of the numbers behind them.
 */
export const limitsSchema = z.strictObject({
  maxSizeBytes: optionalCount('Largest file, in bytes (-13).'),
  minDurationSec: optionalCount('Shortest duration, in seconds (-14).'),
  maxDurationSec: optionalCount('Longest duration, in seconds (-15).'),
  minSampleRate: optionalCount('Lowest sample rate, in Hz (-6).'),
  maxSampleRate: optionalCount('Highest sample rate, in Hz (-5).'),
  maxBitDepth: optionalCount('Most bits per sample of lossless audio (-5).'),
  maxChannels: optionalCount('Most channels per track (-4). Default: 2.'),
  containers: z
    .array(z.string().min(1))
    .optional()
    .meta({ description: 'Accepted containers, by their usual extension (-16).' }),
  codecs: z.array(z.string().min(1)).optional().meta({ description: "Accepted audio codecs, by ffmpeg's names (-7)." }),
  minVoiceSec: optionalCount('Least voice that the voice detector must find, in seconds (-3).'),
  requireVoice: z
    .boolean()
    .optional()
    .meta({ description: 'Refuse a file with too little voice (-3) instead of warning.' }),
})
export type Limits = z.infer<typeof limitsSchema>

/** "Multi-channel" means more than two channels, unless configured otherwise. */
export const DEFAULT_MAX_CHANNELS = 2

/** Less voice than this is practically none: a cough, not a word. */
export const DEFAULT_MIN_VOICE_SEC = 0.15

/** Limits that the embedded service publishes and enforces: everything that its engine can process. */
export const DEFAULT_SERVICE_LIMITS: Limits = {
  maxSizeBytes: 64 * 1024 ** 3,
  minDurationSec: 0.1,
  maxDurationSec: 24 * 3600,
  minSampleRate: 8000,
  maxSampleRate: 192_000,
  maxBitDepth: 64,
  maxChannels: DEFAULT_MAX_CHANNELS,
  containers: [
    ...['mp4', 'mov', 'm4v', 'm4a', 'm4b', '3gp', '3g2', 'mkv', 'mka', 'webm', 'mxf', 'ts', 'm2ts', 'mts', 'mpg'],
    ...['avi', 'flv', 'asf', 'wmv', 'wma', 'wav', 'rf64', 'w64', 'bwf', 'aiff', 'aif', 'caf', 'flac', 'mp3', 'ogg'],
    ...['oga', 'ogv', 'opus', 'aac', 'adts', 'ac3', 'eac3'],
  ],
  minVoiceSec: DEFAULT_MIN_VOICE_SEC,
  requireVoice: true,
}
