import { make } from './elements.js'

/** Remedies of this page for refusals that name a flag of the command line. */
const OWN_REMEDIES = {
  '-3': 'Add a part that contains speech under Parts. If the file has several tracks, choose that of the dialogue under Settings.',
  '-4': 'Choose the channels under Settings.',
  '-8': 'Choose a track under Settings.',
  ERR_OUTPUT_EXISTS: 'Write another name under Output, or tick Replace an existing output.',
}

/** A finding of the pre-check or an error, with its remedies. */
export function finding({ errorCode, code, name, message, remedies = [] }, tone) {
  const own = OWN_REMEDIES[errorCode] ?? OWN_REMEDIES[code]
  const shown = own === undefined ? remedies : [own]
  const title = errorCode ? `${errorCode} ${name ?? ''}`.trim() : code
  return make(
    'div.notice',
    { 'data-tone': tone },
    make('p', {}, title && make('code.code', {}, title), ' ', message),
    shown.length > 0 && make('ul.remedies', {}, ...shown.map((remedy) => make('li', {}, remedy))),
  )
}

/** All findings of a check. */
export function findings({ verdicts, error, losses }) {
  const rows = verdicts.map((verdict) => finding(verdict, verdict.severity === 'refuse' ? 'bad' : 'warn'))
  if (error && rows.length === 0) rows.push(finding(error, 'bad'))
  if (!error) rows.unshift(make('p.badge', { 'data-tone': 'good' }, '✔ Ready: voxmux can process this file'))
  for (const { what, reason } of losses) rows.push(make('p.quiet', {}, `Cannot be kept: ${what} (${reason})`))
  return make('div.findings', {}, ...rows)
}
