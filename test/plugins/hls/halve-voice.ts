import { ffmpeg } from '../../helpers/media-factory.js'

/** Halves a voice without a job, for tests of what is made of voices. */
export function halveVoice(input: string, output: string): Promise<void> {
  return ffmpeg('-i', input, '-af', 'volume=0.5', '-c:a', 'pcm_f32le', output)
}
