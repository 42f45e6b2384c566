import { announce, toast } from './announce.js'
import { ask, change } from './ask.js'
import { make, setText } from './elements.js'
import { finding } from './findings.js'
import { duration, overallPercent, stageName } from './format.js'
import { player } from './player.js'

const LOOK_MS = 400
/** So many looks in a row without an answer mean that the server has ended. */
const MOST_UNANSWERED = 10

/**
 * Follows a job to its end: progress, a button that stops it, and then before and after.
 *
 * @param {HTMLElement} box in which it is shown
 * @param {object} job as the server started it
 * @param {{ isPreview?: boolean }} options
 * @returns {Promise<object>} the job as it ended
 */
export async function followJob(box, job, { isPreview = false } = {}) {
  const stage = make('span.stage', { role: 'status' }, 'Starting')
  // Beside the words that are read aloud, because it changes all the time.
  const elapsed = make('span.stage')
  const bar = make('progress', { max: '100', 'aria-label': 'Progress' })
  const stop = make('button', { type: 'button', onclick: () => void stopJob(job.id, stop) }, 'Stop')
  const view = make('div.job-view', {}, make('p.line', {}, stage, elapsed), bar, make('p.buttons', {}, stop))
  box.replaceChildren(view)
  let now = job
  let unanswered = 0
  while (now.status === 'running') {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    try {
      now = await ask(`api/jobs/${job.id}`)
      unanswered = 0
    } catch ({ message }) {
      // A server that is busy or gone for a moment does not end the job.
      if (++unanswered < MOST_UNANSWERED) continue
      now = { ...now, status: 'pending', error: { message, remedies: ['The same job then goes on from there.'] } }
    }
    if (now.stage !== null) bar.value = overallPercent(now.stage, now.percent)
    setText(stage, now.stage === null ? 'Starting' : stageName(now.stage))
    setText(elapsed, duration(Date.now() - now.startedMs))
  }
  void showEnd(view, now, isPreview)
  return now
}

async function stopJob(id, button) {
  button.disabled = true
  await change(`api/jobs/${id}/stop`).catch((fault) => toast(fault.message, 'bad'))
}

async function showEnd(view, job, isPreview) {
  const { status, error, output, id } = job
  if (status !== 'done' && status !== 'skipped') {
    const tone = status === 'pending' ? 'warn' : 'bad'
    view.replaceChildren(finding(error ?? { message: 'The job stopped. Start it again to continue.' }, tone))
    announce(error?.message ?? 'The job stopped.')
    return
  }
  const took = duration(job.endedMs - job.startedMs)
  const words =
    status === 'skipped' ? 'Done before, and unchanged' : isPreview ? `Ready after ${took}` : `Done after ${took}`
  announce(`${words}.`)
  const result = make(
    'p',
    {},
    make('span.badge', { 'data-tone': 'good' }, words),
    ' ',
    !isPreview && make('bdi', {}, output),
  )
  const listening = make('div', { 'aria-busy': 'true' }, make('p.quiet', {}, 'Preparing before and after…'))
  const openFolder = () =>
    change(`api/jobs/${id}/folder`).then(
      () => toast('The folder is open.'),
      (fault) => toast(fault.message, 'bad'),
    )
  const buttons = make(
    'p.buttons',
    {},
    make('button', { type: 'button', onclick: openFolder }, 'Open the folder'),
    make('a', { href: `api/jobs/${id}/output`, download: '' }, 'Download the output'),
  )
  view.replaceChildren(...[result, !isPreview && buttons, listening].filter(Boolean))
  try {
    const { tracks } = await ask(`api/jobs/${id}/comparison`)
    const players = tracks.map((track) => player(track, tracks.length > 1, isPreview ? ' to ten seconds' : ''))
    listening.replaceChildren(...(players.length > 0 ? players : [make('p.quiet', {}, 'No track was regenerated.')]))
    if (isPreview) listening.querySelector('button')?.focus()
  } catch (fault) {
    listening.replaceChildren(make('p.notice', { 'data-tone': 'warn' }, fault.message))
  }
  listening.removeAttribute('aria-busy')
}
