import type { QcStandardName } from '../../config/preset-schema.js'
import { thrownMessage } from '../../core/errors.js'
import { findFfmpeg, measureSound, probe } from '../../media/index.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../../media/media-info.js'
import { VOICED } from '../plan/ranges-to-send.js'
import type { Certificate } from './certificate.js'
import { judgeSound, judgesDialogue, QC_RULES } from './qc-standards.js'
import { type Receipt, regeneratedStreams } from './receipt.js'

/**
 * Measures a finished file against a delivery standard: its new tracks, or all of them if none is new. The voice is
 * already paid for, so a fault of the measurement is part of the result.
 *
 * @throws InterruptedError only
 */
export async function certify(
  path: string,
  receipt: Pick<Receipt, 'streams' | 'voices'>,
  standard: QcStandardName,
  signal: AbortSignal,
): Promise<Certificate> {
  const { title } = QC_RULES[standard]
  const { version } = await findFfmpeg()
  const instruments = `ffmpeg ${version}: ebur128, silencedetect, aphasemeter`
  try {
    const media = await probe(path, { signal })
    const replaced = regeneratedStreams(receipt).map(({ outputIndex }) => outputIndex)
    const tracks: Certificate['tracks'] = []
    for (const stream of audioStreams(media)) {
      if (replaced.length > 0 && !replaced.includes(stream.index)) continue
      const voiced = judgesDialogue(standard) ? await voicedSeconds(media, stream, signal) : null
      const sound = await measureSound(media, stream, { voiced, signal })
      tracks.push({ outputIndex: stream.index, sound, rules: judgeSound(standard, sound) })
    }
    return { standard, title, passed: verdict(tracks), fault: null, instruments, tracks }
  } catch (error) {
    if (signal.aborted) throw error
    return { standard, title, passed: null, fault: thrownMessage(error), instruments, tracks: [] }
  }
}

async function voicedSeconds(media: MediaInfo, stream: AudioStreamInfo, signal: AbortSignal) {
  // Few jobs ask for it, and the voice models take time to load.
  const { mapTrack } = await import('../voice/map-track.js')
  const { voice } = await mapTrack(media, stream, signal)
  return voice.map((probability) => probability >= VOICED)
}

function verdict(tracks: Certificate['tracks']): boolean | null {
  const results = tracks.flatMap(({ rules }) => rules.map(({ passed }) => passed))
  if (results.includes(false)) return false
  return results.length === 0 || results.includes(null) ? null : true
}
