import { basename } from 'node:path'
import { formatTime } from '../../core/time.js'
import { changeWords } from '../output/change-words.js'
import { faultWords } from '../output/fault-words.js'
import type { LoudnessFigures, Receipt } from '../output/receipt.js'
import { certificateSection } from './certificate-section.js'
import type { Comparison, Side } from './comparison.js'
import { list, readableTime, shown, table } from './page-parts.js'
import { REPORT_SCRIPT, REPORT_STYLE } from './report-style.js'

/** The page must load nothing: everything it shows is embedded. */
const POLICY =
  "default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

/** Renders the report of a job as one standalone page. Pure. */
export function reportPage(receipt: Receipt, comparisons: readonly Comparison[]): string {
  const name = shown(basename(receipt.output.path))
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${name}: ${comparisons.length > 0 ? 'before and after' : 'certificate'}</title>
<style>${REPORT_STYLE}</style></head><body>
<header><h1>${name}</h1>
<p class="quiet">From <code>${shown(receipt.input.path)}</code>, preset ${shown(receipt.preset)}, ${shown(readableTime(receipt.createdAt))}, voxmux ${shown(receipt.voxmux)}</p></header>
<main>
${certificateSection(receipt)}
${comparisons.map((comparison) => listening(comparison, comparisons.length > 1)).join('\n')}
<h2>Voice</h2>
<p>${shown(changeWords(receipt))}.</p>
${faultWords(receipt.voices)
  .map((words) => `<p>Found: ${shown(words)}.</p>`)
  .join('\n')}
${table(
  ['From', 'To'],
  receipt.segments.map(({ startSec, endSec }) => [formatTime(startSec), formatTime(endSec)]),
)}
<h2>Loudness</h2>
${table(
  ['Track', '', 'Integrated', 'Range', 'True peak'],
  receipt.tracks.flatMap(({ audioIndex, loudness }) => [
    loudnessRow(audioIndex, `before${loudness.of === 'parts' ? ', regenerated parts' : ''}`, loudness.before),
    loudnessRow(audioIndex, `after${loudness.of === 'parts' ? ', regenerated parts' : ''}`, loudness.after),
  ]),
)}
<h2>Sync</h2>
<p class="quiet">Offset of the audio from the original, in samples. A positive offset is late.</p>
${table(
  ['Track', 'Place', 'At', 'Offset'],
  receipt.tracks.flatMap(({ audioIndex, sampleRate, sync }) =>
    sync.map(({ at, atSample, offsetSamples }) => [
      `${audioIndex}`,
      at,
      formatTime(atSample / sampleRate),
      offsetSamples === null ? 'silence' : `${offsetSamples} (${((1000 * offsetSamples) / sampleRate).toFixed(2)} ms)`,
    ]),
  ),
)}
<h2>Streams</h2>
${table(
  ['Input', 'Output', 'Kind', 'Codec', 'Result', 'Reason, or hash of all packets'],
  receipt.streams.map(({ index, outputIndex, kind, codec, fate, reason, packetHash }) => [
    `${index ?? '–'}`,
    `${outputIndex ?? '–'}`,
    kind,
    codec ?? '–',
    fate,
    reason ?? packetHash?.input ?? '',
  ]),
)}
${list(
  'Not kept',
  receipt.losses.map(({ what, reason }) => `${what}: ${reason}`),
)}
${list('Notes', receipt.notes)}
<h2>Verification</h2>
<p>Level <b>${receipt.verification.level}</b>: ${receipt.verification.checks.map(shown).join('; ')}.</p>
<p>Output SHA-256 <code>${receipt.output.sha256}</code></p>
</main>
<script>${REPORT_SCRIPT}</script>
</body></html>
`
}

/** True if a page has the comparison of at least one track. */
export function hasComparison(page: string): boolean {
  return page.includes('<section data-comparison ')
}

function listening({ audioIndex, startSec, lengthSec, isWhole, before, after }: Comparison, several: boolean): string {
  const group = `side-${audioIndex}`
  const excerpt = isWhole
    ? ''
    : `<p class="quiet">This page has an excerpt of ${formatTime(lengthSec)}, starting at ${formatTime(startSec)}.</p>`
  return `<section data-comparison data-start-sec="${startSec}" aria-label="Audio track ${audioIndex}">
<h2>Listen${several ? ` to audio track ${audioIndex}` : ''}</h2>
${excerpt}<div class="player">
<button type="button">Play</button>
<fieldset aria-label="Version to play">
<label><input type="radio" name="${group}" value="before" checked>Before</label>
<label><input type="radio" name="${group}" value="after">After</label></fieldset>
<input type="range" min="0" max="${lengthSec}" step="0.01" value="0" aria-label="Position">
<output aria-label="Time">0:00</output>
<audio preload="auto" src="${before.audio}"></audio><audio preload="auto" src="${after.audio}"></audio>
</div>
<div class="pictures">${pictures('Before', before)}${pictures('After', after)}</div>
</section>`
}

function pictures(label: string, { waveform, spectrogram }: Side): string {
  return `<figure><img src="${waveform}" alt="${label}: waveform"><img src="${spectrogram}" alt="${label}: spectrogram up to 12 kHz"><figcaption>${label}: waveform, and spectrogram up to 12 kHz</figcaption></figure>`
}

function loudnessRow(audioIndex: number, when: string, { integratedLufs, rangeLu, truePeakDbtp }: LoudnessFigures) {
  const figure = (value: number | null, unit: string) => (value === null ? '–' : `${value.toFixed(1)}\u00a0${unit}`)
  return [`${audioIndex}`, when, figure(integratedLufs, 'LUFS'), figure(rangeLu, 'LU'), figure(truePeakDbtp, 'dBTP')]
}
