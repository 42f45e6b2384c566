import { make } from './elements.js'
import { bytes, clock } from './format.js'

/** The changes to a file, and the proof that nothing else changed. */
export function receiptView(job, receipt) {
  const { input, output, losses, notes, verification } = receipt
  return make(
    'section.receipt',
    { 'aria-label': 'Receipt' },
    make('h3', {}, 'Receipt'),
    make(
      'p',
      {},
      make('span.badge', { 'data-tone': 'good' }, `Verified ${verification.level}`),
      ` ${input.sizeBytes === null ? 'an address' : bytes(input.sizeBytes)} in, ${bytes(output.sizeBytes)} out`,
    ),
    table('Loudness', ['Track', 'Version', 'Integrated', 'Range', 'True peak'], loudnessRows(receipt)),
    table('Sync against the original', ['Track', 'Place', 'At', 'Offset'], syncRows(receipt)),
    table('Streams', ['Kind', 'Codec', 'Result', 'Reason'], streamRows(receipt)),
    list(
      'Could not be kept',
      losses.map(({ what, reason }) => `${what}: ${reason}`),
    ),
    list('Notes', notes),
    list('Checks', verification.checks),
    make('p.hash', {}, 'SHA-256 of the output ', make('code', {}, output.sha256)),
    make(
      'p.links',
      {},
      make('a', { href: `/api/jobs/${job.id}/receipt`, target: '_blank', rel: 'noopener' }, 'Receipt as JSON'),
      receipt.report !== null &&
        make('a', { href: `/api/jobs/${job.id}/report`, target: '_blank', rel: 'noopener' }, 'Report'),
    ),
  )
}

function loudnessRows({ tracks }) {
  const figure = (value, unit) => (value === null ? '–' : `${value.toFixed(1)} ${unit}`)
  const row = (audioIndex, when, { integratedLufs, rangeLu, truePeakDbtp }) => [
    `${audioIndex}`,
    when,
    figure(integratedLufs, 'LUFS'),
    figure(rangeLu, 'LU'),
    figure(truePeakDbtp, 'dBTP'),
  ]
  return tracks.flatMap(({ audioIndex, loudness }) => [
    row(audioIndex, 'before', loudness.before),
    row(audioIndex, 'after', loudness.after),
  ])
}

function syncRows({ tracks }) {
  return tracks.flatMap(({ audioIndex, sampleRate, sync }) =>
    sync.map(({ at, atSample, offsetSamples }) => [
      `${audioIndex}`,
      at,
      clock(atSample / sampleRate),
      offsetSamples === null
        ? 'silence'
        : `${offsetSamples} samples (${((1000 * offsetSamples) / sampleRate).toFixed(2)} ms)`,
    ]),
  )
}

function streamRows({ streams }) {
  return streams.map(({ kind, codec, fate, reason, packetHash }) => [
    kind,
    codec ?? '–',
    fate,
    reason ?? (packetHash?.output ? 'every packet the same' : ''),
  ])
}

function table(title, head, rows) {
  if (rows.length === 0) return null
  const line = (tag, cells) => make('tr', {}, ...cells.map((cell) => make(tag, {}, cell)))
  return make(
    'div.scroll',
    { tabindex: 0, role: 'region', 'aria-label': title },
    make(
      'table',
      {},
      make('caption', {}, title),
      make('thead', {}, line('th', head)),
      make('tbody', {}, ...rows.map((cells) => line('td', cells))),
    ),
  )
}

function list(title, entries) {
  if (entries.length === 0) return null
  return make('div', {}, make('h4', {}, title), make('ul', {}, ...entries.map((entry) => make('li', {}, entry))))
}
