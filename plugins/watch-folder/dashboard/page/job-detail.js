import { ask } from './ask.js'
import { byId, make, setText } from './elements.js'
import { duration, exactTime } from './format.js'
import { failure } from './job-lists.js'
import { player } from './player.js'
import { receiptView } from './receipt.js'

const dialog = byId('detail')
const body = byId('detail-body')
let shownId

/** Connects the dialog with the address, so that the back button closes it and a link opens it. */
export function startDetail() {
  window.addEventListener('hashchange', followAddress)
  byId('detail-close').addEventListener('click', () => dialog.close())
  // A click beside the sheet closes it.
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close())
  dialog.addEventListener('close', () => {
    shownId = undefined
    body.replaceChildren()
    if (location.hash.startsWith('#job/')) history.pushState(null, '', location.pathname)
  })
  followAddress()
}

async function followAddress() {
  const [, id] = /^#job\/([\w-]+)$/.exec(location.hash) ?? []
  if (id === undefined) return dialog.close()
  shownId = id
  setText(byId('detail-title'), '…')
  body.replaceChildren(make('p.quiet', {}, 'Loading…'))
  if (!dialog.open) dialog.showModal()
  try {
    const { job, receipt } = await ask(`/api/jobs/${id}`)
    if (shownId === id) show(job, receipt)
  } catch (fault) {
    if (shownId === id) body.replaceChildren(make('p.notice', { 'data-tone': 'bad' }, fault.message))
  }
}

function show(job, receipt) {
  setText(byId('detail-title'), job.name)
  const isFailed = job.status === 'failed' || job.status === 'rejected'
  body.replaceChildren(
    ...[facts(job), isFailed && failure(job), receipt && listening(job), receipt && receiptView(job, receipt)].filter(
      Boolean,
    ),
  )
  byId('detail-title').focus()
}

const WORDS = {
  queued: 'Waiting',
  working: 'In progress',
  'waiting-remote': 'At the service',
  done: 'Finished',
  skipped: 'Done before',
  rejected: 'Refused',
  failed: 'Failed',
}

function facts(job) {
  const rows = [
    ['State', WORDS[job.status] ?? job.status],
    ['Input', make('bdi', {}, job.input)],
    job.output !== null && ['Output', output(job)],
    job.preset !== null && ['Preset', job.preset],
    ['Queued', exactTime(job.createdMs)],
    ['Changed', `${exactTime(job.updatedMs)} (${duration(job.updatedMs - job.createdMs)} later)`],
    ['Job', make('code', {}, job.id)],
  ].filter(Boolean)
  return make(
    'dl.facts',
    {},
    ...rows.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value))),
  )
}

function output({ id, status, output: path }) {
  const isThere = status === 'done' || status === 'skipped'
  const link = make('a', { href: `/api/jobs/${id}/output`, download: true }, 'Download')
  return make('span', {}, make('bdi', {}, path), ' ', isThere && link)
}

/** Before and after. The server prepares them at the first request, which takes a while for long files. */
function listening(job) {
  const box = make('section.listening', { 'aria-busy': 'true' }, make('p.quiet', {}, 'Preparing before and after…'))
  ask(`/api/jobs/${job.id}/comparison`).then(
    ({ tracks }) => {
      const players = tracks.map((track) => player(track, tracks.length > 1))
      box.replaceChildren(...(players.length > 0 ? players : [make('p.quiet', {}, 'No track was regenerated.')]))
      box.removeAttribute('aria-busy')
    },
    (fault) => {
      box.replaceChildren(make('p.notice', { 'data-tone': 'warn' }, fault.message))
      box.removeAttribute('aria-busy')
    },
  )
  return box
}
