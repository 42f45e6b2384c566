import { announce, toast } from './announce.js'
import { ask, change } from './ask.js'
import { byId, make, setText } from './elements.js'
import { startPicker } from './file-picker.js'
import { finding, findings } from './findings.js'
import { bytes, clock, plural } from './format.js'
import { followJob } from './job-view.js'
import { startParts } from './parts.js'
import { startSettings } from './settings.js'
import { readTime, timeText } from './time-text.js'
import { startWave } from './wave.js'

const PLAN_DELAY_MS = 300

const start = await ask('api/start')
const wave = startWave({ select: (part) => parts.add(part), mark })
const parts = startParts(() => changed())
const settings = startSettings(start, () => changed())
const previewStart = byId('preview-start')
let file = null
/** Counts questions, so that an outdated answer is dropped. */
let turn = 0
let planTimer
let shownTrack = 0
let checkedKey = ''
let runs = 0

startPicker(open)
previewStart.addEventListener('change', () => mark(readTime(previewStart.value) ?? 0))
byId('preview').addEventListener('click', preview)
byId('start').addEventListener('click', regenerate)
setText(byId('preview-cost'), start.isFree ? 'Costs nothing.' : `Costs up to ${start.previewSec} s of voice.`)
if (start.running !== null) {
  // The page was loaded again while its job runs.
  setText(byId('name'), start.running.input.split(/[\\/]/).at(-1))
  for (const id of ['check', 'run']) byId(id).hidden = false
  void follow(start.running, byId('job'), start.running)
} else if (start.file !== null) {
  byId('path').value = start.file
  open({ path: start.file, isCopy: false })
}

/** The job of all choices on the page. */
function job() {
  const segments = parts.all.map(({ startSec, endSec }) => ({ startSec, endSec }))
  const output = file.isCopy ? { output: `${start.cwd}/` } : {}
  return { input: file.path, ...output, ...settings.values, ...(segments.length > 0 && { segments }) }
}

async function open(chosen) {
  if (runs > 0) return toast('A job runs. Stop it or wait for its end, then open the next file.', 'warn')
  if (chosen.path !== file?.path) settings.clearOutput()
  file = chosen
  const own = ++turn
  for (const id of ['settings', 'sound', 'run']) byId(id).hidden = true
  byId('check').hidden = false
  setText(byId('name'), chosen.path.split(/[\\/]/).at(-1))
  setText(byId('facts'), '')
  byId('findings').replaceChildren(make('p.quiet', {}, 'Checking. A long file takes a while…'))
  for (const id of ['job', 'preview-job']) byId(id).replaceChildren()
  byId('start').disabled = true
  byId('plan').replaceChildren()
  wave.clear()
  mark(0)
  settings.showTracks([])
  await check(own, true)
}

/** Checks the file with the present choices. The first check of a file also shows its tracks and its sound. */
async function check(own, isFirst) {
  const key = settings.checkKey
  checkedKey = key
  status('Checking…', 'quiet')
  try {
    const checked = await change('api/check', job())
    if (own !== turn || key !== checkedKey) return
    const { media, map, error } = checked
    byId('findings').replaceChildren(findings(checked))
    status(error ? 'Needs a choice or another file' : 'Ready', error ? 'warn' : 'good')
    announce(error ? error.message : 'The file is ready.')
    if (isFirst && media) showMedia(media)
    showMap(map)
    if (isFirst) byId('check').focus({ preventScroll: true })
    if (!media || media.tracks.length === 0) return
    changed()
  } catch (fault) {
    if (own !== turn) return
    byId('findings').replaceChildren(finding({ message: fault.message }, 'bad'))
    status('Not checked', 'bad')
  }
}

function showMedia({ container, durationSec, sizeBytes, tracks }) {
  const length = durationSec === null ? 'length unknown' : clock(durationSec)
  setText(byId('facts'), [container, length, bytes(sizeBytes), plural(tracks.length, 'audio track')].join(', '))
  if (tracks.length === 0) return
  settings.showTracks(tracks)
  checkedKey = settings.checkKey
  parts.reset(durationSec ?? 0)
  for (const id of ['settings', 'sound', 'run']) byId(id).hidden = false
  void showSound()
}

async function showSound() {
  shownTrack = settings.shownTrack
  const own = turn
  try {
    const sound = await ask(`api/waveform?${new URLSearchParams({ path: file.path, track: shownTrack })}`)
    if (own !== turn) return
    wave.show(sound)
    parts.learnDuration(sound.durationSec)
    draw()
  } catch (fault) {
    if (own === turn) toast(fault.message, 'bad')
  }
}

function showMap(map) {
  wave.showMap(map)
  parts.offerNoisy(map?.noisy ?? [])
  const noisySec = (map?.noisy ?? []).reduce(
    (sum, { startSec, endSec }) => sum + (endSec ?? map.noise.length) - startSec,
    0,
  )
  setText(
    byId('map-words'),
    map
      ? `Upper row: voice, ${clock(map.voicedSec)} in all. Lower row: noise; ${clock(noisySec)} of it lie around a voice.`
      : 'Voice and noise are shown for files that are ready, up to ten minutes long.',
  )
}

function mark(sec) {
  previewStart.value = timeText(sec)
  draw()
}

function draw() {
  wave.showParts(parts.all, readTime(previewStart.value) ?? 0, start.previewSec)
}

/** After a choice: draws the parts, and asks for the plan again. Other tracks or channels are checked again. */
function changed() {
  draw()
  // The plan shows the cost before anything starts.
  byId('start').disabled = true
  if (settings.shownTrack !== shownTrack) void showSound()
  if (settings.checkKey !== checkedKey) return void check(turn, false)
  clearTimeout(planTimer)
  planTimer = setTimeout(() => void plan(turn), PLAN_DELAY_MS)
}

async function plan(own) {
  byId('run').setAttribute('aria-busy', 'true')
  const asked = JSON.stringify(job())
  const found = await change('api/plan', job()).catch((fault) => ({ refusal: { message: fault.message } }))
  if (own !== turn || asked !== JSON.stringify(job())) return
  byId('run').removeAttribute('aria-busy')
  showPlan(found)
}

function showPlan({ isFree, output, paidSec, sendBytes, losses = [], notes = [], refusal }) {
  const seconds =
    paidSec === null || paidSec === undefined ? 'unknown until the voice is cut' : clock(Math.ceil(paidSec))
  const rows = [
    output && ['Output', make('bdi', {}, output)],
    output && ['Costs', isFree ? 'Nothing: the embedded service runs on this computer' : `At most ${seconds} of voice`],
    output && ['Sent', `At most ${bytes(sendBytes)}`],
    ...losses.map(({ what, reason }) => ['Lost', `${what}: ${reason}`]),
    ...notes.map((note) => ['Note', note]),
  ].filter(Boolean)
  byId('plan').replaceChildren(
    ...rows.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value))),
  )
  byId('refusal').replaceChildren(...(refusal ? [finding(refusal, 'warn')] : []))
  byId('start').disabled = refusal !== null || runs > 0
  byId('preview').disabled = runs > 0
  setText(byId('start'), isFree || !output ? 'Start' : `Start and pay for at most ${seconds} of voice`)
}

function preview() {
  const { output: _, force: __, ...rest } = job()
  const query = new URLSearchParams({ start: String(readTime(previewStart.value) ?? 0) })
  return follow(change(`api/previews?${query}`, rest), byId('preview-job'), { isPreview: true })
}

function regenerate() {
  return follow(change('api/jobs', job()), byId('job'), {})
}

/** Follows a job that was started. Only one runs at a time. */
async function follow(started, box, options) {
  runs++
  byId('start').disabled = true
  byId('preview').disabled = true
  try {
    status('Working…', 'quiet')
    const ended = await followJob(box, await started, options)
    const isGood = ended.status === 'done' || ended.status === 'skipped'
    status(isGood ? 'Done' : 'Stopped', isGood ? 'good' : 'warn')
  } catch (fault) {
    toast(fault.message, 'bad')
    status('Not started', 'bad')
  } finally {
    runs--
    if (file !== null) void plan(turn)
  }
}

function status(text, tone) {
  const pill = byId('status')
  pill.dataset.tone = tone
  setText(pill, text)
}
