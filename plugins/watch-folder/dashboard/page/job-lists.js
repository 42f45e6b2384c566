import { toast } from './announce.js'
import { ask, change } from './ask.js'
import { byId, make, reconcile, setText } from './elements.js'
import { exactTime, relativeTime } from './format.js'
import { countOf, ownGroups } from './overview.js'

const PAGE_LENGTH = 50
const TYPING_PAUSE_MS = 200
const STATUSES = { done: ['done', 'skipped'], failed: ['failed', 'rejected'], waiting: ['queued'] }
const EMPTY = {
  done: 'No file is finished yet.',
  failed: 'No file has failed.',
  waiting: 'No file is waiting.',
}

const tabs = [...byId('tabs').querySelectorAll('[role=tab]')]
let list = 'done'
/** The last id of each page before the current one; empty on the first. */
let pages = []
let shown = { jobs: [], hasMore: false }
let asked = 0
/** `own`: the folders of this daemon; `all`: the whole store; otherwise a group. */
let scope = 'own'
let search = ''
let isOwn = () => true
let overview = { counts: [], folders: [] }

/** Connects the tabs and the paging. */
export function startLists() {
  for (const tab of tabs) {
    tab.addEventListener('click', () => choose(tab.dataset.list))
    tab.addEventListener('keydown', moveAlong)
  }
  byId('scope').addEventListener('change', (event) => {
    scope = event.target.value
    showTabCounts(overview)
    turn([])
  })
  byId('search').addEventListener('input', searchSoon)
  byId('older').addEventListener('click', () => turn([...pages, shown.jobs.at(-1).id]))
  byId('newer').addEventListener('click', () => turn(pages.slice(0, -1)))
  choose(list)
}

let waiting

/** Searches when the typing pauses. */
function searchSoon(event) {
  clearTimeout(waiting)
  waiting = setTimeout(() => {
    search = event.target.value.trim()
    turn([])
  }, TYPING_PAUSE_MS)
}

/** The arrow keys move between tabs. */
function moveAlong(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
  if (step === undefined) return
  const next = tabs[(tabs.indexOf(event.currentTarget) + step + tabs.length) % tabs.length]
  next.focus()
  choose(next.dataset.list)
}

function choose(name) {
  list = name
  for (const tab of tabs) {
    const isChosen = tab.dataset.list === name
    tab.setAttribute('aria-selected', String(isChosen))
    tab.tabIndex = isChosen ? 0 : -1
    if (isChosen) byId('panel').setAttribute('aria-labelledby', tab.id)
  }
  turn([])
}

async function turn(to) {
  pages = to
  await refreshList()
  if (byId('panel').getBoundingClientRect().top < 0) byId('jobs').scrollIntoView()
}

/** Requests the current page again. An outdated response is dropped. */
export async function refreshList() {
  const turnOf = ++asked
  const query = new URLSearchParams({ list, limit: PAGE_LENGTH })
  if (pages.length > 0) query.set('before', pages.at(-1))
  if (search !== '') query.set('search', search)
  if (scope === 'all') query.set('all', '1')
  else if (scope !== 'own') query.set('group', scope)
  try {
    const answer = await ask(`/api/jobs?${query}`)
    if (turnOf !== asked) return
    shown = answer
    show()
  } catch (fault) {
    toast(fault.message, 'bad')
  }
}

/** The numbers on the tabs. */
export function showTabCounts(next) {
  overview = next
  const { counts, folders } = next
  isOwn = ownGroups(next)
  const choices = [
    ['own', 'All folders here'],
    ...folders.map(({ group, path }) => [group, path]),
    ['all', 'Everything in the store'],
  ]
  reconcile(
    byId('scope'),
    choices,
    ([value]) => value,
    ([value, text]) => make('option', { value }, text),
    () => {},
  )
  const isCounted = { own: isOwn, all: () => true }[scope] ?? ((group) => group === scope)
  for (const tab of tabs) {
    const count = countOf(counts, STATUSES[tab.dataset.list], isCounted)
    setText(tab.querySelector('.count'), count === 0 ? '' : count.toLocaleString('en'))
    tab.dataset.alarm = String(tab.dataset.list === 'failed' && count > 0)
  }
}

function show() {
  const { jobs, hasMore } = shown
  reconcile(byId('job-list'), jobs, ({ id, status }) => `${id} ${status}`, createJob, updateJob)
  const empty = byId('job-empty')
  empty.hidden = jobs.length > 0
  setText(empty, pages.length > 0 ? 'No more.' : search !== '' ? 'No path contains this.' : EMPTY[list])
  byId('paging').hidden = pages.length === 0 && !hasMore
  byId('newer').disabled = pages.length === 0
  byId('older').disabled = !hasMore
  setText(byId('page-number'), `Page ${pages.length + 1}`)
}

function createJob(job) {
  const when = make('time.quiet')
  const name = make('a.name', { href: `#job/${job.id}` }, make('bdi', {}, job.name))
  const head = make('div.job-head', {}, name, when)
  const failed = job.status === 'failed' || job.status === 'rejected'
  return make('li.job', { 'data-status': job.status }, head, failed ? failure(job) : make('p.quiet.result'))
}

function updateJob(row, job) {
  const when = row.querySelector('time')
  when.dateTime = new Date(job.updatedMs).toISOString()
  when.title = exactTime(job.updatedMs)
  setText(when, relativeTime(job.updatedMs))
  const result = row.querySelector('.result')
  if (result) setText(result, resultOf(job))
}

function resultOf({ status, output, error, notBeforeMs, attempts, group }) {
  if (status === 'done') return output ?? 'Finished'
  if (status === 'skipped') return 'Nothing to do: done before and unchanged'
  if (!isOwn(group)) return `Waits for a process that works on ${group}`
  if (error === null) return 'Waiting for its turn'
  const next = notBeforeMs === null ? 'next attempt soon' : `next attempt ${relativeTime(notBeforeMs)}`
  return `Tried ${attempts} ${attempts === 1 ? 'time' : 'times'}, ${next}: ${error.message}`
}

const PRESET_FLAG =
  /--(track|channels|keep-original|add-track|verify|mix|bed|only-noisy|skip-clean)(?: (all|any|only|default|lang:\w+|auto|center|each|downmix|full|fast|keep|lower|N|\d+)\b)?/g

/** A remedy with keys of the preset in place of flags: a watched folder has no command line. */
function withKeys(remedy) {
  const inKeys = remedy.replaceAll(PRESET_FLAG, (_, flag, value) => {
    const key = flag.replaceAll(/-([a-z])/g, (_dash, letter) => letter.toUpperCase())
    return `"${key}"${value ? `: ${/^(N|\d+)$/.test(value) ? value : `"${value}"`}` : ''}`
  })
  return inKeys === remedy ? remedy : `In the preset of the folder: ${inKeys[0].toLowerCase()}${inKeys.slice(1)}`
}

const CHANGED_REMEDY = 'Wait: the watched folder takes the present version of the file by itself.'
const RETRY_REMEDY = 'Fix the cause, then press Try again. It uses the present settings of the watched folder.'

/** The reason of a failure, its remedies, and the button that retries the job. */
export function failure(job) {
  const { error } = job
  const code = error?.errorCode ? `${error.errorCode} ${error.name ?? ''}` : (error?.code ?? 'unknown')
  const remedies =
    error?.code === 'ERR_INPUT_CHANGED' ? [CHANGED_REMEDY] : [...(error?.remedies ?? []).map(withKeys), RETRY_REMEDY]
  const act = (text, label, work) => {
    const button = make('button', { type: 'button', 'aria-label': label, onclick: () => work(job, button) }, text)
    return button
  }
  return make(
    'div.failure',
    {},
    make('p', {}, make('code.code', {}, code), ' ', error?.message ?? 'It failed without a message.'),
    make('ul.remedies', {}, ...remedies.map((remedy) => make('li', {}, remedy))),
    act('Try again', `Try again: ${job.name}`, retry),
    ' ',
    act('Forget', `Forget ${job.name}`, forget),
  )
}

function retry(job, button) {
  return changeJob(job, button, 'retry', `${job.name} is back in the queue.`)
}

function forget(job, button) {
  return changeJob(
    job,
    button,
    'forget',
    `${job.name} is forgotten. A file that is still in the folder is taken again.`,
  )
}

async function changeJob(job, button, action, said) {
  button.disabled = true
  try {
    await change(`/api/jobs/${job.id}/${action}`)
    toast(said)
    await refreshList()
    // The row, and with it the focus, may be gone.
    if (!document.activeElement || document.activeElement === document.body) byId('jobs').focus({ preventScroll: true })
  } catch (fault) {
    button.disabled = false
    toast(fault.message, 'bad')
  }
}
