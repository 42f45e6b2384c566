import { ffmpegOutput } from '../media-factory.js'

/** A regeneration that changes what it gets, 6 dB quieter: a lossy track that comes back as it was keeps its packets. */
export function quieterVoice(path: string): Promise<Buffer> {
  return ffmpegOutput('-i', path, '-af', 'volume=0.5:precision=fixed', '-f', 'flac', 'pipe:1')
}
