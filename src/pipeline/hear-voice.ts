import { fileUrl, safeInputOptions, streamFfmpeg } from '../media/index.js'
import { DEFAULT_MIN_VOICE_SEC, type Limits, runRules, subjectOfSound, type Verdict } from '../precheck/index.js'
import { detectVoice, VOICE_SAMPLE_RATE, VoicePool } from '../voice/index.js'

/**
 * Seconds of voice in an audio track, as the model's detector hears them; it stops as soon as there are enough to
 * know that somebody speaks. A detector can be wrong: it takes singing for voice and may miss a whisper.
 *
 * @returns null where the detector cannot tell
 */
async function heardVoiceSec(path: string, audioIndex: number, signal?: AbortSignal): Promise<number | null> {
  const { stdout } = streamFfmpeg(
    {
      inputs: [{ url: fileUrl(path), options: safeInputOptions() }],
      filterComplex: `[0:a:${audioIndex}]aresample=${VOICE_SAMPLE_RATE},aformat=sample_fmts=flt:channel_layouts=mono[pcm]`,
      outputs: [{ url: 'pipe:1', options: ['-map', '[pcm]', '-f', 'f32le', '-c:a', 'pcm_f32le'] }],
    },
    { signal, input: path },
  )
  const pool = new VoicePool({ workers: 1 })
  try {
    const amount = await detectVoice(
      { channelCount: 1, chunks: stdout },
      { pool, signal, enoughSec: 2 * DEFAULT_MIN_VOICE_SEC },
    )
    return amount?.voicedSec ?? null
  } finally {
    stdout.destroy()
    await pool.close()
  }
}

/**
 * The verdict of the detector on an audio track: -3 where practically nobody speaks, as a warning or, where the
 * limits require a voice, as a refusal.
 *
 * @param path of the file to listen to: the input, or what was cut of it
 */
export async function voiceVerdicts(
  path: string,
  audioIndex: number,
  limits: Limits,
  signal?: AbortSignal,
): Promise<readonly Verdict[]> {
  const voicedSec = await heardVoiceSec(path, audioIndex, signal)
  return runRules(subjectOfSound(voicedSec), limits).filter(({ errorCode }) => errorCode === -3)
}
