import { make } from './elements.js'
import { clock } from './format.js'

const SIDES = ['before', 'after']
/** Heights in the spectrogram, which ends at 12 kHz. */
const KILOHERTZ = [12, 8, 4]
const TIMES = [0, 0.25, 0.5, 0.75, 1]
let players = 0

/**
 * One switch for two players: the second continues at the position of the first. The pictures belong to the side that
 * plays, and a position in them is a position in time. The dashboard, the report and `voxmux ui` share this player.
 *
 * @param {string} note to tell several players of a page apart
 */
export function player(track, isOneOfSeveral, note = '') {
  const { audioIndex, startSec, lengthSec, isWhole, parts = [] } = track
  const group = `side-${++players}`
  const audio = Object.fromEntries(
    SIDES.map((side) => [side, make('audio', { preload: 'auto', src: track[side].audio })]),
  )
  const pictures = Object.fromEntries(SIDES.map((side) => [side, picturesOf(track, side)]))
  const button = make('button.play', { type: 'button', onclick: () => toggle() }, 'Play')
  const seek = make('input', { type: 'range', min: 0, max: lengthSec, step: 'any', value: 0, 'aria-label': 'Position' })
  const time = make('output', { 'aria-live': 'off' }, clock(startSec))
  const heads = SIDES.map((side) => pictures[side].querySelector('.playhead'))
  let now = 'after'

  const choices = SIDES.map((side) => {
    const radio = make('input', {
      type: 'radio',
      name: group,
      value: side,
      checked: side === now,
      onchange: () => choose(side),
    })
    return make('label', {}, radio, side === 'before' ? 'Before' : 'After')
  })

  function show() {
    const { currentTime, paused } = audio[now]
    const length = audio[now].duration || lengthSec
    seek.max = length
    seek.value = currentTime
    seek.setAttribute('aria-valuetext', clock(startSec + currentTime))
    time.textContent = `${clock(startSec + currentTime)} / ${clock(startSec + length)}`
    button.textContent = paused ? 'Play' : 'Pause'
    for (const head of heads) head.style.insetInlineStart = `${(100 * currentTime) / length}%`
  }
  function play() {
    // A player that is closed before its sound has come rejects this. Nothing is left to be said then.
    audio[now].play().catch(() => {})
  }
  function toggle() {
    if (audio[now].paused) play()
    else audio[now].pause()
  }
  function choose(side) {
    const plays = !audio[now].paused
    audio[side].currentTime = audio[now].currentTime
    audio[now].pause()
    now = side
    for (const one of SIDES) pictures[one].hidden = one !== now
    if (plays) play()
    show()
  }
  function jump(sec) {
    audio[now].currentTime = sec
    show()
  }

  seek.addEventListener('input', () => jump(Number(seek.value)))
  for (const side of SIDES) {
    pictures[side].hidden = side !== now
    pictures[side].addEventListener('click', ({ clientX, currentTarget }) => {
      const { left, width } = currentTarget.getBoundingClientRect()
      jump(((clientX - left) / width) * (audio[now].duration || lengthSec))
    })
    for (const name of ['timeupdate', 'play', 'pause', 'ended', 'loadedmetadata', 'seeked'])
      audio[side].addEventListener(name, () => side === now && show())
  }
  const title = `${isOneOfSeveral ? `Listen to audio track ${audioIndex}` : 'Listen'}${note}`
  return make(
    'section.player',
    { 'aria-label': title },
    make('h3', {}, title),
    !isWhole && make('p.quiet', {}, `An excerpt of ${clock(lengthSec)}, starting at ${clock(startSec)}.`),
    make('div.pictures', {}, ...SIDES.map((side) => pictures[side])),
    make(
      'div.times',
      { 'aria-hidden': 'true' },
      ...TIMES.map((share) => make('span', {}, timeOf(startSec + share * lengthSec, lengthSec))),
    ),
    parts.length > 0 &&
      make(
        'p.quiet',
        {},
        `Marked: ${parts.map((part) => `${clock(part.startSec)} to ${clock(part.endSec)}`).join(', ')}. Only that is regenerated.`,
      ),
    make(
      'div.controls',
      {},
      button,
      make('fieldset.switch', { 'aria-label': 'Version to play' }, ...choices),
      seek,
      time,
    ),
    ...SIDES.map((side) => audio[side]),
  )
}

/** A time of the axis. Whole seconds would repeat in a short excerpt. */
function timeOf(sec, lengthSec) {
  return lengthSec < 10 ? `${sec.toFixed(1)} s` : clock(sec)
}

function picturesOf(track, side) {
  const { startSec, lengthSec, parts = [] } = track
  const { waveform, spectrogram } = track[side]
  const label = side === 'before' ? 'Before' : 'After'
  const percent = (sec) => Math.min(100, Math.max(0, (100 * (sec - startSec)) / lengthSec))
  const scale = KILOHERTZ.map((kilohertz) => {
    const mark = make('span', { 'aria-hidden': 'true' }, `${kilohertz} kHz`)
    mark.style.insetBlockStart = `${(100 * (12 - kilohertz)) / 12}%`
    return mark
  })
  const marks = parts.map((part) => {
    const mark = make('span.marked', { 'aria-hidden': 'true' })
    mark.style.insetInlineStart = `${percent(part.startSec)}%`
    mark.style.width = `${percent(part.endSec) - percent(part.startSec)}%`
    return mark
  })
  return make(
    'figure',
    { 'data-side': side },
    make('img', { src: waveform, alt: `${label}: waveform`, width: 1200, height: 140 }),
    make(
      'div.spectrum',
      {},
      make('img', { src: spectrogram, alt: `${label}: spectrogram up to 12 kHz`, width: 1200, height: 256 }),
      ...scale,
    ),
    ...marks,
    make('span.playhead', { 'aria-hidden': 'true' }),
  )
}
