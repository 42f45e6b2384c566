import {
  blamingFile,
  fileUrl,
  type PcmFile,
  readPcmFile,
  safeInputOptions,
  soundless,
  streamFfmpeg,
} from '../../media/index.js'
import { DEFAULT_MIN_VOICE_SEC, type Limits, runRules, subjectOfSound, type Verdict } from '../../precheck/index.js'
import { detectVoice, VOICE_SAMPLE_RATE, type VoiceMap, VoicePool } from '../../voice/index.js'

/** An audio track of a file: of the input or of a cut. */
interface HeardTrack {
  readonly path: string
  readonly audioIndex: number
  readonly channels: number
  /** Its samples, if they are in a file. */
  readonly pcm?: PcmFile | undefined
}

/**
 * Seconds of voice in an audio track, found by the model's voice detector, which stops at the first sufficient voice. A
 * detector can be wrong: it takes singing for voice and may miss a whisper. Listens to each channel, as the embedded
 * service does.
 *
 * @returns null if the detector cannot decide
 */
async function detectedVoiceSec(track: HeardTrack, signal?: AbortSignal) {
  await using pool = new VoicePool({ workers: 1 })
  const input = { channelCount: Math.min(track.channels, 2), buffers: sounding(track, buffersOf(track, signal)) }
  const amount = await detectVoice(input, { pool, signal, enoughSec: 2 * DEFAULT_MIN_VOICE_SEC })
  return amount?.voicedSec ?? null
}

/** The buffers of a track that has any. */
async function* sounding({ path, audioIndex }: HeardTrack, buffers: AsyncIterable<Buffer>) {
  let bytes = 0
  for await (const buffer of buffers) {
    bytes += buffer.length
    yield buffer
  }
  if (bytes === 0) throw soundless(path, audioIndex)
}

/** The samples as the voice room takes them. Only another rate or more channels need a decoder. */
function buffersOf({ path, audioIndex, channels, pcm }: HeardTrack, signal?: AbortSignal): AsyncIterable<Buffer> {
  if (pcm && pcm.format.sampleRate === VOICE_SAMPLE_RATE && channels <= 2) {
    return readPcmFile(pcm, { sample: 'f32', signal }).buffers()
  }
  const fold = channels > 2 ? ':channel_layouts=stereo' : ''
  const { stdout } = streamFfmpeg(
    {
      inputs: [{ url: fileUrl(path), options: safeInputOptions() }],
      filterComplex: `[0:a:${audioIndex}]aresample=${VOICE_SAMPLE_RATE},aformat=sample_fmts=flt${fold}[pcm]`,
      outputs: [{ url: 'pipe:1', options: ['-map', '[pcm]', '-f', 'f32le', '-c:a', 'pcm_f32le'] }],
    },
    { signal, input: path },
  )
  return stdout
}

/**
 * The detector's verdict on an audio track. It gives -3 if practically nobody speaks: a warning, or a refusal if the
 * limits require a voice.
 *
 * @throws {PrecheckError} `ERR_UNREADABLE` (-2) if the track cannot be decoded
 */
export async function noVoiceVerdicts(
  track: HeardTrack,
  limits: Limits,
  signal?: AbortSignal,
): Promise<readonly Verdict[]> {
  return verdictsOn(await blamingFile(track.path, signal, () => detectedVoiceSec(track, signal)), limits)
}

/**
 * {@link noVoiceVerdicts} for a track that is mapped. Its map is of the mean of the channels, in which a voice can cancel
 * itself. Without a voice there, the channels are searched one by one, and an empty map may be that of no sound at all.
 */
export async function mappedVoiceVerdicts(
  track: HeardTrack,
  { voicedSec, voice }: VoiceMap,
  limits: Limits,
  signal?: AbortSignal,
): Promise<readonly Verdict[]> {
  const verdicts = verdictsOn(voicedSec, limits)
  return verdicts.length > 0 && (track.channels > 1 || voice.length === 0)
    ? noVoiceVerdicts(track, limits, signal)
    : verdicts
}

function verdictsOn(voicedSec: number | null, limits: Limits): readonly Verdict[] {
  return runRules(subjectOfSound(voicedSec), limits).filter(({ errorCode }) => errorCode === -3)
}
