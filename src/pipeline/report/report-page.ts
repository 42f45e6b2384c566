import { basename } from 'node:path'
import { formatTime } from '../../core/time.js'
import { playerScript, playerStyle } from '../../pages/inline-player.js'
import { changeWords } from '../output/change-words.js'
import { faultWords } from '../output/fault-words.js'
import type { LoudnessFigures, Receipt } from '../output/receipt.js'
import { certificateSection } from './certificate-section.js'
import type { Comparison } from './comparison.js'
import { list, readableTime, shown, table } from './page-parts.js'
import { REPORT_STYLE } from './report-style.js'

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
<style>${REPORT_STYLE}${comparisons.length > 0 ? playerStyle() : ''}</style></head><body>
<header><h1>${name}</h1>
<p class="quiet">From <code>${shown(receipt.input.path)}</code>, preset ${shown(receipt.preset)}, ${shown(readableTime(receipt.createdAt))}, voxmux ${shown(receipt.voxmux)}</p></header>
<main>
${certificateSection(receipt)}
${comparisons.length > 0 ? listening(comparisons) : ''}
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
  ['Track', 'Version', 'Integrated', 'Range', 'True peak'],
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
${comparisons.length > 0 ? `<script type="module">${playerScript()}${PLAYERS}</script>\n` : ''}</body></html>
`
}

/** True if a page has the comparison of at least one track. */
export function hasComparison(page: string): boolean {
  return page.includes('<section data-comparison ')
}

/** The comparisons as data, in the place of their players. */
function listening(comparisons: readonly Comparison[]): string {
  const data = JSON.stringify(comparisons).replaceAll('<', '\\u003c')
  return `<h2>Before and after</h2>
<section data-comparison aria-label="Before and after"><noscript>The players need JavaScript.</noscript>
<script type="application/json">${data}</script></section>`
}

/** Puts a player for each comparison in their place. */
const PLAYERS = `
const place = document.querySelector('[data-comparison]')
const tracks = JSON.parse(place.querySelector('[type="application/json"]').textContent)
place.replaceChildren(...tracks.map((track) => player(track, tracks.length > 1)))
`

function loudnessRow(audioIndex: number, when: string, { integratedLufs, rangeLu, truePeakDbtp }: LoudnessFigures) {
  const figure = (value: number | null, unit: string) => (value === null ? '–' : `${value.toFixed(1)}\u00a0${unit}`)
  return [`${audioIndex}`, when, figure(integratedLufs, 'LUFS'), figure(rangeLu, 'LU'), figure(truePeakDbtp, 'dBTP')]
}
