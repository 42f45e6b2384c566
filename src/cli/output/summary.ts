import { existsSync } from 'node:fs'
import pc from 'picocolors'
import { formatTime } from '../../core/time.js'
import { visibleText } from '../../core/visible-text.js'
import type { InputStatus } from '../../pipeline/events.js'
import type { JobOutcome } from '../../pipeline/job/job-outcome.js'
import { certificateWords } from '../../pipeline/output/certificate-words.js'
import { changeWords } from '../../pipeline/output/change-words.js'
import { faultWords } from '../../pipeline/output/fault-words.js'
import {
  type LoudnessFigures,
  paidSecOf,
  type Receipt,
  type StreamFate,
  type TrackRecord,
} from '../../pipeline/output/receipt.js'
import { reportPath } from '../../pipeline/plan/output-path.js'
import { clock } from './clock.js'

/**
 * The text below the files at the end. One file: what was kept, the measured sync, and the loudness before and after.
 * Several files: the number of each status.
 *
 * @param tookMs duration of the whole run
 */
export function summary(outcomes: readonly JobOutcome[], tookMs?: number): string {
  const [only] = outcomes
  if (only && outcomes.length === 1)
    return only.receipt ? details(only.receipt, only.event.receipt ?? '', tookMs).join('\n') : earlierReport(only.event)
  const counts = new Map<InputStatus, number>()
  for (const { event } of outcomes) counts.set(event.status, (counts.get(event.status) ?? 0) + 1)
  return `${outcomes.length} files: ${[...counts].map(([status, count]) => `${count} ${status}`).join(', ')}${tookMs === undefined ? '' : `, took ${clock(tookMs)}`}`
}

/** The page of an output that was done before. */
function earlierReport({ output }: JobOutcome['event']): string {
  const page = output === null ? undefined : reportPath(output)
  return page !== undefined && existsSync(page) ? row('report', page) : ''
}

function details(receipt: Receipt, receiptPath: string, tookMs: number | undefined): readonly string[] {
  const { tracks, notes, losses } = receipt
  return [
    row('output', receipt.output.path),
    row('voice', voiceLine(receipt)),
    ...faultWords(receipt.voices).map((words) => row('found', words)),
    row('kept', keptLine(receipt)),
    ...losses.map((loss) => row('lost', `${loss.what}: ${loss.reason}`)),
    ...tracks.map((track) => row('sync', syncLine(track))),
    ...tracks.map((track) => row('loudness', loudnessLine(track.loudness))),
    ...(receipt.certificate ? [row('qc', certificateWords(receipt.certificate))] : []),
    ...notes.map((note) => row('note', note)),
    ...(tookMs === undefined ? [] : [row('took', tookWords(receipt, tookMs))]),
    row('receipt', receiptPath),
    ...(receipt.report === null ? [] : [row('report', receipt.report)]),
  ]
}

/** The duration, and the speed against the sound that was processed. */
function tookWords({ segments }: Receipt, tookMs: number): string {
  const processedSec = segments.reduce((sum, { startSec, endSec }) => sum + (endSec ?? Number.NaN) - startSec, 0)
  const speed = (1000 * processedSec) / tookMs
  return speed > 0 && Number.isFinite(speed) ? `${clock(tookMs)} (${speed.toFixed(1)} × real time)` : clock(tookMs)
}

function row(label: string, text: string): string {
  return `  ${pc.dim(label.padEnd(9))} ${visibleText(text)}`
}

function voiceLine(receipt: Receipt): string {
  if (receipt.voices.length === 0) return changeWords(receipt)
  const paid = paidSecOf(receipt)
  const free = receipt.voices.every(({ cached }) => cached) ? 'all of it was cached' : 'all of it was paid for before'
  const price = paid === 0 ? `nothing paid, ${free}` : `${formatTime(paid)} sent`
  return `${changeWords(receipt)} (${price})`
}

function keptLine({ streams, verification, chapters }: Receipt): string {
  const kept = streams.filter(({ fate }) => fate === 'copied')
  const counts = new Map<string, number>()
  for (const { kind } of kept) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const named = [...counts].map(([kind, count]) => streamCount(kind, count))
  if (chapters > 0) named.push(`${chapters} chapter${chapters > 1 ? 's' : ''}`)
  const replaced = streams.filter(({ fate }) => fate === 'replaced').map(describeCodec)
  const added = streams.filter(({ fate }) => fate === 'added').map(describeCodec)
  const audio = [
    ...(replaced.length > 0 ? [`audio as ${replaced.join(', ')}`] : []),
    ...(added.length > 0 ? [`one more track as ${added.join(', ')}`] : []),
  ]
  if (named.length === 0) {
    const isAll = streams.every(({ fate }) => fate !== 'dropped' && fate !== 'converted')
    return [...audio, isAll ? 'there was nothing else to keep' : 'nothing else'].join('; ')
  }
  const proof = verification.level === 'full' ? 'every packet identical' : 'tables identical'
  return [`${named.join(', ')} copied (${proof})`, ...audio].join('; ')
}

/** `2 subtitles`, `1 data stream`, `2 audio`. */
function streamCount(kind: string, count: number): string {
  const noun = kind === 'data' || kind === 'unknown' ? `${kind} stream` : kind
  return `${count} ${noun}${count > 1 && kind !== 'audio' ? 's' : ''}`
}

function describeCodec({ codec }: StreamFate): string {
  const [, kind, bits] = /^pcm_([suf])(\d+)/.exec(codec ?? '') ?? []
  if (bits !== undefined) return `${bits}-bit ${kind === 'f' ? 'float ' : ''}PCM`
  return codec ?? 'before'
}

function syncLine({ sync, sampleRate }: TrackRecord): string {
  if (sync.length > 0 && sync.every(({ offsetSamples }) => offsetSamples === 0))
    return `exact (0 ms at ${new Intl.ListFormat('en-GB').format(sync.map(({ at }) => at))})`
  return sync
    .map(
      ({ at, offsetSamples }) => `${at} ${offsetSamples === null ? 'silent' : milliseconds(offsetSamples, sampleRate)}`,
    )
    .join(', ')
}

function milliseconds(samples: number, sampleRate: number): string {
  return `${samples === 0 ? 0 : ((1000 * samples) / sampleRate).toFixed(2)} ms`
}

function loudnessLine({ before, after, of }: TrackRecord['loudness']): string {
  return `${loudness(before)} → ${loudness(after)}${of === 'parts' ? ' in the regenerated parts' : ''}`
}

function loudness({ integratedLufs, truePeakDbtp }: LoudnessFigures): string {
  if (integratedLufs === null) return 'silence'
  const peak = truePeakDbtp === null ? '' : `, peak ${truePeakDbtp.toFixed(1)} dBTP`
  return `${integratedLufs.toFixed(1)} LUFS${peak}`
}
