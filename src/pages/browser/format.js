const STAGE_NAMES = {
  probe: 'Reading',
  precheck: 'Checking',
  plan: 'Planning',
  cut: 'Cutting the voice',
  upload: 'Uploading',
  process: 'Regenerating',
  download: 'Downloading',
  align: 'Aligning',
  splice: 'Inserting the voice',
  mux: 'Writing',
  verify: 'Verifying',
  publish: 'Publishing',
}
const STAGES = Object.keys(STAGE_NAMES)

/** Words for a stage. */
export function stageName(stage) {
  return STAGE_NAMES[stage] ?? stage
}

/** Progress of a whole job, 0 to 100, from its stage and the progress of that. */
export function overallPercent(stage, percent) {
  const index = STAGES.indexOf(stage)
  return index < 0 ? 0 : ((index + percent / 100) / STAGES.length) * 100
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

/** `3 min. ago`, `in 2 hr.` */
export function relativeTime(ms, nowMs = Date.now()) {
  const sec = (ms - nowMs) / 1000
  for (const [unit, length] of UNITS)
    if (Math.abs(sec) >= length) return relative.format(Math.trunc(sec / length), unit)
  return Math.abs(sec) < 10 ? 'just now' : relative.format(Math.trunc(sec), 'second')
}

export function exactTime(ms) {
  return exact.format(ms)
}

/** `1:05`, `1:02:03` */
export function clock(sec) {
  const whole = Math.floor(sec)
  const minutes = `${Math.floor(whole / 60) % 60}`
  const seconds = String(whole % 60).padStart(2, '0')
  return whole >= 3600 ? `${Math.floor(whole / 3600)}:${minutes.padStart(2, '0')}:${seconds}` : `${minutes}:${seconds}`
}

/** `3.2 s`, `4 min 10 s` */
export function duration(ms) {
  const sec = ms / 1000
  if (sec < 60) return `${sec < 10 ? sec.toFixed(1) : Math.round(sec)} s`
  const minutes = Math.floor(sec / 60)
  return minutes < 60 ? `${minutes} min ${Math.round(sec % 60)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export function bytes(count) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let value = count
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

/** `1 file`, `1,204 files` */
export function plural(count, one, many = `${one}s`) {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
