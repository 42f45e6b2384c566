import { byId } from './elements.js'
import { timeText } from './time-text.js'

const SVG = 'http://www.w3.org/2000/svg'
/** A shorter drag, in pixels, is a click. */
const LEAST_DRAG = 5

/**
 * The waveform with the lanes of voice and noise, in which a drag selects a part.
 *
 * @param {{ select: (part: { startSec: number, endSec: number }) => void, mark: (sec: number) => void }} told
 */
export function startWave(told) {
  const box = byId('wave')
  let durationSec = 0
  let drag = null

  const secAt = ({ clientX }) => {
    const { left, width } = box.getBoundingClientRect()
    return Math.min(1, Math.max(0, (clientX - left) / width)) * durationSec
  }
  box.addEventListener('pointerdown', (event) => {
    if (durationSec === 0) return
    box.setPointerCapture(event.pointerId)
    drag = { fromSec: secAt(event), fromX: event.clientX, shade: shade('part') }
  })
  box.addEventListener('pointermove', (event) => {
    if (drag) place(drag.shade, drag.fromSec, secAt(event))
  })
  box.addEventListener('pointerup', (event) => {
    if (!drag) return
    const { fromSec, fromX, shade: temporary } = drag
    temporary.remove()
    drag = null
    const sec = secAt(event)
    if (Math.abs(event.clientX - fromX) < LEAST_DRAG) told.mark(sec)
    else told.select({ startSec: Math.min(fromSec, sec), endSec: Math.max(fromSec, sec) })
  })
  box.addEventListener('pointercancel', () => {
    drag?.shade.remove()
    drag = null
  })

  function shade(name) {
    const element = document.createElement('div')
    element.className = name
    box.append(element)
    return element
  }
  function place(element, fromSec, toSec) {
    const [start, end] = [Math.min(fromSec, toSec), Math.max(fromSec, toSec)]
    element.style.insetInlineStart = `${(100 * start) / durationSec}%`
    element.style.width = `${(100 * (end - start)) / durationSec}%`
  }

  return {
    clear() {
      durationSec = 0
      box.replaceChildren()
      byId('axis').replaceChildren()
      box.setAttribute('aria-busy', 'true')
    },
    show(sound) {
      durationSec = sound.durationSec
      box.querySelector('.peaks')?.remove()
      box.prepend(bars('peaks', [{ name: '', values: sound.peaks, from: 0.5, both: true }]))
      box.setAttribute('role', 'img')
      box.setAttribute('aria-label', 'Waveform. Parts can also be typed under Parts.')
      box.removeAttribute('aria-busy')
      byId('axis').replaceChildren(
        ...[0, 0.25, 0.5, 0.75, 1].map((share) => {
          const label = document.createElement('span')
          label.textContent = timeText(durationSec < 60 ? share * durationSec : Math.round(share * durationSec))
          return label
        }),
      )
    },
    /** Voice above and noise below, a column for each second. */
    showMap(map) {
      box.querySelector('.lanes')?.remove()
      if (!map) return
      const lanes = [
        { name: 'voice', values: map.voice, from: 0.45 },
        { name: 'noise', values: map.noise, from: 1 },
      ]
      box.append(bars('lanes', lanes))
    },
    showParts(parts, markSec, markLengthSec) {
      for (const old of box.querySelectorAll('.part, .mark')) old.remove()
      if (durationSec === 0) return
      for (const { startSec, endSec } of parts) place(shade('part'), startSec, endSec)
      if (markSec < durationSec) place(shade('mark'), markSec, Math.min(durationSec, markSec + markLengthSec))
    },
  }
}

/** Columns as one path for each lane, in a picture that is as wide as it has columns. */
function bars(name, lanes) {
  const picture = document.createElementNS(SVG, 'svg')
  const count = Math.max(1, ...lanes.map(({ values }) => values.length))
  picture.setAttribute('class', name)
  picture.setAttribute('viewBox', `0 0 ${count} 1`)
  picture.setAttribute('preserveAspectRatio', 'none')
  picture.setAttribute('aria-hidden', 'true')
  for (const { name: lane, values, from, both = false } of lanes) {
    const path = document.createElementNS(SVG, 'path')
    const most = both ? 0.5 : 0.42
    const column = (value, at) => {
      const height = Math.max(0.01, value * most)
      return `M${at} ${from - height}h1v${both ? 2 * height : height}h-1z`
    }
    path.setAttribute('d', values.map(column).join(''))
    if (lane) path.setAttribute('class', lane)
    picture.append(path)
  }
  return picture
}
