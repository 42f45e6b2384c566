import { formatTime } from '../../core/time.js'
import type { Receipt, VoiceRecord } from './receipt.js'

/** How much of the voice was regenerated, and how much of that changed. Unchanged voice is not counted. */
export function changeWords({
  input,
  segments,
  voices,
  tracks,
}: Pick<Receipt, 'input' | 'segments' | 'voices' | 'tracks'>): string {
  // The input was never here: see `remote-job.ts`.
  if (input.sha256 === null) return 'regenerated as a whole by the service, which fetched the file itself'
  const sent = formatTime(segments.reduce((sum, { startSec, endSec }) => sum + endSec - startSec, 0))
  const several = tracks.length > 1 ? ` in ${tracks.length} tracks` : ''
  const change = changeOf(voices)
  if (segments.length === 0) return 'left as it was, and nothing of it was sent'
  if (change === null) return `${sent} regenerated${several}`
  if (change.changedSec === 0) return `${sent} left as it was${several}, because the regenerated audio was the same`
  const changed = formatTime(change.changedSec)
  return `${sent} regenerated${several}, ${changed === sent ? 'all' : changed} of it changed${levelWords(change.removedDb)}`
}

function levelWords(removedDb: number): string {
  const level = Math.abs(removedDb).toFixed(1)
  return level === '0.0' ? '' : `: on average ${level} dB ${removedDb > 0 ? 'quieter' : 'louder'}, pauses included`
}

/** The channel that changed most, so that no second counts twice; null if any voice was not compared. */
function changeOf(voices: readonly VoiceRecord[]): { changedSec: number; removedDb: number } | null {
  const channels = new Map<string, { changedSec: number; fallDbSec: number }>()
  for (const { audioIndex, channel, changedSec, removedDb } of voices) {
    if (changedSec === null) return null
    const sum = channels.get(`${audioIndex} ${channel}`) ?? { changedSec: 0, fallDbSec: 0 }
    sum.changedSec += changedSec
    sum.fallDbSec += changedSec * (removedDb ?? 0)
    channels.set(`${audioIndex} ${channel}`, sum)
  }
  const [most] = [...channels.values()].sort((one, other) => other.changedSec - one.changedSec)
  if (!most) return null
  return { changedSec: most.changedSec, removedDb: most.changedSec === 0 ? 0 : most.fallDbSec / most.changedSec }
}
