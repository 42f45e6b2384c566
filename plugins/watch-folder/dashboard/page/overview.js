import { toast } from './announce.js'
import { change } from './ask.js'
import { byId, make, reconcile, setText } from './elements.js'
import { clock, overallPercent, plural, relativeTime, stageName } from './format.js'
import { visibleText } from './visible-text.js'

const STATE_WORDS = { watching: 'Watching', offline: 'Offline', paused: 'Paused' }
const LIVE = new Set(['working', 'waiting-remote'])

/** Jobs of these statuses. @param isCounted decides by group */
export function countOf(counts, statuses, isCounted) {
  return counts
    .filter((one) => statuses.includes(one.status) && isCounted(one.group))
    .reduce((sum, { count }) => sum + count, 0)
}

/** Decides whether a group is a folder of this daemon. */
export function ownGroups({ folders }) {
  const groups = new Set(folders.map(({ group }) => group))
  return (group) => groups.has(group)
}

/** The line at the top: is everything well? */
export function showStatus({ folders, pauses }, isConnected) {
  const [text, tone] = statusOf(folders, pauses, isConnected)
  const pill = byId('status')
  pill.dataset.tone = tone
  setText(pill, text)
}

function statusOf(folders, pauses, isConnected) {
  if (!isConnected) return ['Connection lost, retrying…', 'bad']
  if (pauses.some(({ group }) => group === null)) return ['Paused', 'bad']
  const offline = folders.filter(({ state }) => state === 'offline').length
  if (offline > 0) return [`${plural(offline, 'folder')} offline`, 'warn']
  const isOwn = ownGroups({ folders })
  const paused = pauses.filter(({ group }) => isOwn(group)).length
  if (paused > 0) return [`${plural(paused, 'folder')} paused`, 'warn']
  return [`Watching ${plural(folders.length, 'folder')}`, 'good']
}

/** Reasons why the intake is paused. */
export function showPauses({ pauses, folders }) {
  const isOwn = ownGroups({ folders })
  reconcile(
    byId('pauses'),
    pauses.filter(({ group }) => group === null || isOwn(group)),
    ({ group, reason }) => `${group}:${reason}`,
    () => make('div.notice', { role: 'alert', 'data-tone': 'bad' }, make('strong'), make('p'), make('p.quiet')),
    (box, { group, reason, sinceMs }) => {
      const [title, text, since] = box.children
      const folder = folders.find((one) => one.group === group)
      setText(title, group === null ? 'No new files are processed' : `${folder?.path ?? group} is paused`)
      setText(text, reason)
      setText(
        since,
        `Since ${relativeTime(sinceMs)}. No file fails because of it. Work continues when the cause is fixed.`,
      )
    },
  )
}

/** A card for each folder. */
export function showFolders({ folders, counts, pauses }) {
  reconcile(
    byId('folders'),
    folders,
    ({ group }) => group,
    () =>
      make(
        'li.folder',
        {},
        make('div.folder-head', {}, make('span.dot', { 'aria-hidden': 'true' }), make('bdi.path'), make('span.state')),
        make('p.quiet'),
        make('dl.figures'),
        make('div.paging', {}, make('button', { type: 'button' })),
      ),
    (card, folder) => {
      const [head, note, figures, controls] = card.children
      const button = controls.firstElementChild
      const [, path, state] = head.children
      const isPaused = pauses.some(({ group }) => group === folder.group)
      const shownState = folder.state === 'watching' && isPaused ? 'paused' : folder.state
      card.dataset.state = shownState
      setText(button, isPaused ? 'Resume' : 'Pause')
      button.setAttribute('aria-label', visibleText(`${isPaused ? 'Resume' : 'Pause'} ${folder.path}`))
      controls.hidden = folder.state === 'offline'
      button.onclick = () => setPaused(folder.group, !isPaused)
      setText(path, folder.path)
      path.title = visibleText(folder.path)
      setText(state, STATE_WORDS[shownState] ?? shownState)
      setText(note, noteOf(folder))
      const count = (...statuses) => countOf(counts, statuses, (group) => group === folder.group)
      showFigures(figures, [
        ['arriving', folder.waitingFiles],
        ['waiting', count('queued')],
        ['in progress', count(...LIVE)],
        ['finished', count('done', 'skipped')],
        ['failed', count('failed', 'rejected')],
      ])
    },
  )
}

async function setPaused(group, isPaused) {
  try {
    await change(`/api/folders/${isPaused ? 'pause' : 'resume'}?${new URLSearchParams({ group })}`)
    toast(isPaused ? 'The folder is paused. Jobs in progress will finish.' : 'The folder is resumed.')
  } catch (fault) {
    toast(fault.message, 'bad')
  }
}

function noteOf({ reason, preset, out, noticedBy }) {
  if (reason !== null) return reason
  return `Preset ${preset}, to ${out}${noticedBy === 'scans' ? '; found by scanning, without events' : ''}`
}

function showFigures(list, figures) {
  reconcile(
    list,
    figures,
    ([name]) => name,
    ([name]) => make('div', {}, make('dt', {}, name), make('dd')),
    (box, [name, value]) => {
      box.dataset.zero = String(value === 0)
      box.dataset.name = name
      setText(box.lastElementChild, value.toLocaleString('en'))
    },
  )
}

/** Jobs in progress, each with a bar. */
export function showLive(live, { counts, folders }) {
  const total = Math.max(live.length, countOf(counts, [...LIVE], ownGroups({ folders })))
  setText(byId('live-count'), total === 0 ? '' : total.toLocaleString('en'))
  const empty = byId('live-empty')
  empty.hidden = live.length > 0 && total === live.length
  setText(empty, live.length === 0 ? 'No job is in progress.' : `and ${plural(total - live.length, 'more job')}`)
  reconcile(byId('live'), live, ({ id }) => id, createLive, updateLive)
}

function createLive(job) {
  return make(
    'li.live-job',
    {},
    make('a.name', { href: `#job/${job.id}` }, make('bdi', {}, job.name)),
    make('span.stage'),
    make('progress', { max: '100', 'aria-label': `Progress of ${job.name}` }),
  )
}

function updateLive(row, { status, stage, percent, holder }) {
  const [, text, bar] = row.children
  if (stage === null) {
    bar.removeAttribute('value')
    // Another process of the store does not report its progress.
    const where = holder === null ? '' : ` on ${holder.host}`
    setText(text, status === 'waiting-remote' ? 'At the service' : `In progress${where}`)
    return
  }
  bar.value = overallPercent(stage, percent)
  if (row.dataset.stage !== stage) Object.assign(row.dataset, { stage, sinceMs: Date.now(), fromPercent: percent })
  const figures = percent > 0 && percent < 100 ? ` ${Math.floor(percent)} %${timeLeft(row.dataset, percent)}` : ''
  setText(text, `${stageName(stage)}${figures}`)
}

/** Before so much of a stage was seen, an estimate of the rest would jump. */
const LEAST_MS = 3000
const LEAST_PERCENT = 5

/** The rest of a stage at the pace that it had since this page saw it. */
function timeLeft({ sinceMs, fromPercent }, percent) {
  const [tookMs, done] = [Date.now() - Number(sinceMs), percent - Number(fromPercent)]
  return tookMs < LEAST_MS || done < LEAST_PERCENT
    ? ''
    : `, ${clock((tookMs * (100 - percent)) / done / 1000)} left in this step`
}
