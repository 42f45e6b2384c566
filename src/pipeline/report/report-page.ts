import { basename } from 'node:path'
import { formatTime } from '../../core/time.js'
import { playerScript, playerStyle } from '../../pages/inline-player.js'
import type { Certificate } from '../output/certificate.js'
import { ruleWords, verdictWords } from '../output/certificate-words.js'
import { changeWords } from '../output/change-words.js'
import { faultWords } from '../output/fault-words.js'
import { REPORT_MARK } from '../output/files-beside.js'
import type { LoudnessFigures, Receipt } from '../output/receipt.js'
import type { Comparison } from './comparison.js'
import { figure, htmlList, htmlTable, readableTime, shown } from './page-parts.js'

/** The page must load nothing: everything it shows is embedded. */
const POLICY =
  "default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

/** Puts a player for each comparison in their place. */
const PLAYERS = `
const place = document.querySelector('[data-comparison]')
const tracks = JSON.parse(place.querySelector('[type="application/json"]').textContent)
place.replaceChildren(...tracks.map((track) => player(track, tracks.length > 1)))
`

/** The styles of the page: light or dark by the system's setting, one column on a phone. */
const REPORT_STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --card: #fff; --ink: #171a23; --quiet: #5d6475; --accent: #2b6cb0; --on-accent: #fff; --shadow: none }
@media (prefers-color-scheme: dark) { :root { --card: #171a22; --ink: #e8eaf2; --quiet: #9aa2b5; --accent: #7ab8f5; --on-accent: #11121c } }
* { box-sizing: border-box }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 64rem; margin: 0 auto; padding: 1.5rem 1rem 4rem }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere } h2 { font-size: 1.1rem; margin: 2.5rem 0 .5rem }
p { margin: .25rem 0 } p, li { overflow-wrap: anywhere } .quiet { opacity: .75 }
.player h3 { margin: 0 0 .5rem; font-size: 1rem }
.scroll { overflow-x: auto } table { border-collapse: collapse; min-width: 100% }
th, td { text-align: left; padding: .35rem 1rem .35rem 0; border-top: 1px solid var(--line); vertical-align: top } td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
code { font-size: .85em; overflow-wrap: anywhere }
.certificate { border: 1px solid var(--line); border-radius: .75rem; padding: 1rem; margin-top: 1rem } .certificate h2 { margin-top: 0 } .certificate h3 { font-size: 1rem; margin: 1rem 0 .25rem }
@page { size: A4; margin: 15mm }
@media print {
  :root { color-scheme: light }
  h2 { break-after: avoid } tr, .player { break-inside: avoid } .player .controls { display: none }
  body:has(.certificate) { padding: 0; max-width: none; font-size: 10.5pt }
  body:has(.certificate) > header, main:has(.certificate) > :not(.certificate) { display: none }
  .certificate { border: 0; padding: 0; margin: 0; break-inside: avoid } .scroll { overflow: visible } table { width: 100% }
  .certificate :is(th, td) { padding: .2rem .6rem .2rem 0 }
}
@media (max-width: 40rem) {
  table { font-size: .85rem } th, td { padding-right: .4rem }
  /* The last of six columns moves below the others. */
  table:has(th:nth-child(6)) :is(thead, tbody) { display: block }
  table:has(th:nth-child(6)) tr { display: grid; grid-template-columns: 2.8rem 3.5rem 1fr 1fr 1.1fr; border-top: 1px solid var(--line) }
  table:has(th:nth-child(6)) :is(th, td) { border: 0; overflow-wrap: anywhere }
  table:has(th:nth-child(6)) :is(th, td):last-child { grid-column: 1 / -1; padding-top: 0; font-size: .8rem }
  table:has(th:nth-child(6)) td:empty { display: none }
}
@media (max-width: 22rem) { table { font-size: .75rem } }
`

/** The input; for a preview, the file that its note names, because the input is a copy of its seconds that is gone. */
function sourceOf({ notes, input }: Receipt): string {
  const names = notes.map((note) => /^A preview: [\d.]+ s of (.+), from [\d.]+ s on\.$/s.exec(note)?.[1])
  return names.find((name) => name !== undefined) ?? input.path
}

/** Renders the report of a job as one standalone page. Pure. */
export function reportPage(receipt: Receipt, comparisons: readonly Comparison[]): string {
  const name = shown(basename(receipt.output.path))
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${name}: ${comparisons.length > 0 ? 'before and after' : 'certificate'}</title>
<style>${REPORT_STYLE}${comparisons.length > 0 ? playerStyle() : ''}</style></head><body>
<header><h1>${name}</h1>
${REPORT_MARK}${shown(sourceOf(receipt))}</code>, preset ${shown(receipt.preset)}, ${shown(readableTime(receipt.createdAt))}, voxmux ${shown(receipt.voxmux)}</p></header>
<main>
${certificateSection(receipt)}
${comparisons.length > 0 ? listening(comparisons) : ''}
<h2>Voice</h2>
<p>${shown(changeWords(receipt))}.</p>
${faultWords(receipt.voices)
  .map((words) => `<p>Found: ${shown(words)}.</p>`)
  .join('\n')}
${htmlTable(
  'Voice',
  ['From', 'To'],
  receipt.segments.map(({ startSec, endSec }) => [formatTime(startSec), formatTime(endSec)]),
)}
<h2>Loudness</h2>
${loudnessTable(receipt)}
<h2>Sync</h2>
<p class="quiet">Offset of the audio from the original, in samples. A positive offset is late.</p>
${syncTable(receipt)}
<h2>Streams</h2>
${streamTable(receipt)}
${htmlList(
  'Not kept',
  receipt.losses.map(({ what, reason }) => `${what}: ${reason}`),
)}
${htmlList('Notes', receipt.notes)}
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

function loudnessTable({ tracks }: Receipt): string {
  const rows = tracks.flatMap(({ audioIndex, loudness }) => {
    const parts = loudness.of === 'parts' ? ', regenerated parts' : ''
    return [
      loudnessRow(audioIndex, `before${parts}`, loudness.before),
      loudnessRow(audioIndex, `after${parts}`, loudness.after),
    ]
  })
  return htmlTable('Loudness', ['Track', 'Version', 'Integrated', 'Range', 'True peak'], rows)
}

function syncTable({ tracks }: Receipt): string {
  const offset = (samples: number, sampleRate: number) =>
    `${samples} (${((1000 * samples) / sampleRate).toFixed(2)} ms)`
  const rows = tracks.flatMap(({ audioIndex, sampleRate, sync }) =>
    sync.map(({ at, atSample, offsetSamples }) => [
      ...[`${audioIndex}`, at, formatTime(atSample / sampleRate)],
      offsetSamples === null ? 'silence' : offset(offsetSamples, sampleRate),
    ]),
  )
  return htmlTable('Sync', ['Track', 'Place', 'At', 'Offset'], rows)
}

function streamTable({ streams }: Receipt): string {
  const rows = streams.map(({ index, outputIndex, kind, codec, fate, reason, packetHash }) => [
    ...[`${index ?? '–'}`, `${outputIndex ?? '–'}`, kind, codec ?? '–', fate],
    reason ?? packetHash?.input ?? '',
  ])
  return htmlTable('Streams', ['Input', 'Output', 'Kind', 'Codec', 'Result', 'Reason, or hash of all packets'], rows)
}

function loudnessRow(audioIndex: number, when: string, { integratedLufs, rangeLu, truePeakDbtp }: LoudnessFigures) {
  return [`${audioIndex}`, when, figure(integratedLufs, 'LUFS'), figure(rangeLu, 'LU'), figure(truePeakDbtp, 'dBTP')]
}

/** The certificate of a receipt: a page that has one prints nothing else. Empty without a certificate. */
function certificateSection({ certificate, output, input, createdAt, voxmux }: Receipt): string {
  if (certificate === null) return ''
  const { title, passed, fault, instruments, tracks } = certificate
  return `<section class="certificate" aria-label="Certificate">
<h2>${shown(title)}: ${verdictWords(passed)}</h2>
<p><b>${shown(basename(output.path))}</b>, ${output.sizeBytes} bytes</p>
<p>SHA-256 <code>${output.sha256}</code></p>
<p>From <code>${shown(basename(input.path))}</code>${input.sha256 === null ? '' : `, SHA-256 <code>${input.sha256}</code>`}</p>
<p>Measured by ${shown(instruments)}. Made by voxmux ${shown(voxmux)}, ${shown(readableTime(createdAt))}.</p>
${fault === null ? measured(tracks) : `<p>Nothing was measured: ${shown(fault)}</p>`}
</section>`
}

/** One table of all rules and one of all figures, so that several tracks still fit on a page. */
function measured(tracks: Certificate['tracks']): string {
  const rules = tracks.flatMap((track) => track.rules.map((rule) => ({ ...rule, outputIndex: track.outputIndex })))
  const sources = [...new Set(rules.map(({ source }) => source))]
  const columns = tracks.map(({ sound }) => figuresOf(sound))
  return `<h3>Rules</h3>
${htmlTable(
  'Rules',
  ['Stream', 'Rule', 'Measured', 'Allowed', 'Result'],
  rules.map(({ outputIndex, ...rule }) => {
    const { name, value, limit } = ruleWords(rule)
    return [`${outputIndex}`, name, value, limit, verdictWords(rule.passed)]
  }),
)}
<p class="quiet">Source: ${sources.map(shown).join('; ')}.</p>
<h3>All figures</h3>
${htmlTable(
  'All figures',
  ['Figure', ...tracks.map(({ outputIndex }) => `Stream ${outputIndex}`)],
  (columns[0] ?? []).map(([name], row) => [name, ...columns.map((column) => column[row]?.[1] ?? '')]),
)}`
}

function figuresOf(sound: Certificate['tracks'][number]['sound']): readonly (readonly [name: string, value: string])[] {
  const { voiceShare, silenceSec, longestSilenceSec, phase, outOfPhaseSec } = sound
  return [
    ['Integrated loudness', figure(sound.integratedLufs, 'LUFS')],
    ['Loudness of the dialogue', figure(sound.dialogueLufs, 'LUFS')],
    ['Seconds with a voice', voiceShare === null ? '–' : `${(100 * voiceShare).toFixed(0)} %`],
    ['Highest momentary loudness (400 ms)', figure(sound.momentaryMaxLufs, 'LUFS')],
    ['Highest short-term loudness (3 s)', figure(sound.shortTermMaxLufs, 'LUFS')],
    ['Loudness range', figure(sound.rangeLu, 'LU')],
    ['True peak', figure(sound.truePeakDbtp, 'dBTP')],
    ['Silence, below -60 dBFS for 1 s or more', formatTime(silenceSec)],
    ['Longest silence', formatTime(longestSilenceSec)],
    ['Mean phase correlation', phase === null ? '–' : phase.toFixed(2)],
    ['Out of phase', outOfPhaseSec === null ? '–' : formatTime(outOfPhaseSec)],
  ]
}
