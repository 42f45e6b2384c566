import { byId, make, reconcile, setText } from './elements.js'
import { overallPercent, plural, relativeTime, stageName } from './format.js'
import { visibleText } from './visible-text.js'

const STATE_WORDS = { watching: 'Watching', offline: 'Offline', paused: 'Paused' }
const LIVE = new Set(['working', 'waiting-remote'])

/** Jobs of a status (or of all those given), over all folders or in one. */
export function countOf(counts, statuses, group) {
  return counts
    .filter((one) => statuses.includes(one.status) && (group === undefined || one.group === group))
    .reduce((sum, { count }) => sum + count, 0)
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
  if (pauses.length > 0) return [`${plural(pauses.length, 'folder')} paused`, 'warn']
  return [`Watching ${plural(folders.length, 'folder')}`, 'good']
}

/** Reasons why the intake is paused. */
export function showPauses({ pauses, folders }) {
  reconcile(
    byId('pauses'),
    pauses,
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
export function showFolders({ folders, counts }) {
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
      ),
    (card, folder) => {
      const [head, note, figures] = card.children
      const [, path, state] = head.children
      card.dataset.state = folder.state
      setText(path, folder.path)
      path.title = visibleText(folder.path)
      setText(state, STATE_WORDS[folder.state] ?? folder.state)
      setText(note, noteOf(folder))
      const count = (...statuses) => countOf(counts, statuses, folder.group)
      showFigures(figures, [
        ['arriving', folder.waitingFiles],
        ['waiting', count('queued')],
        ['in progress', count(...LIVE)],
        ['finished', count('done', 'skipped')],
        ['failed', count('failed', 'rejected') + folder.unreadableFiles],
      ])
    },
  )
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
export function showLive(live, { counts }) {
  const total = Math.max(live.length, countOf(counts, [...LIVE]))
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
  setText(text, percent > 0 && percent < 100 ? `${stageName(stage)} ${Math.floor(percent)} %` : stageName(stage))
}
