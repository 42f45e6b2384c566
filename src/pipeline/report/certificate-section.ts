import { basename } from 'node:path'
import { formatTime } from '../../core/time.js'
import type { Certificate } from '../output/certificate.js'
import { ruleWords, verdictWords } from '../output/certificate-words.js'
import type { Receipt } from '../output/receipt.js'
import { figure, htmlTable, readableTime, shown } from './page-parts.js'

/** The certificate of a receipt: a page that has one prints nothing else. Empty without a certificate. */
export function certificateSection({ certificate, output, input, createdAt, voxmux }: Receipt): string {
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
  ['Stream', 'Rule', 'Measured', 'Allowed', 'Result'],
  rules.map(({ outputIndex, ...rule }) => {
    const { name, value, limit } = ruleWords(rule)
    return [`${outputIndex}`, name, value, limit, verdictWords(rule.passed)]
  }),
)}
<p class="quiet">Source: ${sources.map(shown).join('; ')}.</p>
<h3>All figures</h3>
${htmlTable(
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
