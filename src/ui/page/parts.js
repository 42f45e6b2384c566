import { byId, make, setText } from './elements.js'
import { readTime, timeText } from './time-text.js'

/**
 * The list of parts, each with two times to type. An empty list is the whole file.
 *
 * @param {() => void} changed called after every change
 */
export function startParts(changed) {
  let parts = []
  let durationSec = 0
  const list = byId('parts')
  const noisyButton = byId('noisy-parts')
  let noisy = []

  byId('add-part').addEventListener('click', () => {
    const last = parts.at(-1)
    const startSec = last && last.endSec < durationSec ? last.endSec : 0
    add({ startSec, endSec: Math.min(durationSec, startSec + 10) })
    list.lastElementChild?.querySelector('input').focus()
  })
  byId('all-parts').addEventListener('click', () => {
    set([])
    byId('add-part').focus()
  })
  noisyButton.addEventListener('click', () => set(noisy))

  function add(part) {
    set([...parts, part].sort((a, b) => a.startSec - b.startSec))
  }
  function set(next) {
    parts = next
    show()
    changed()
  }
  function show() {
    list.replaceChildren(...parts.map(row))
    byId('all-parts').hidden = parts.length === 0
    setText(
      byId('parts-words'),
      parts.length === 0
        ? 'The whole file is regenerated. Drag over the waveform or add a part to regenerate only that.'
        : 'Only these parts are regenerated. All else stays as it is.',
    )
  }
  function row(part, index) {
    const field = (key, label) =>
      make('input.time', {
        type: 'text',
        value: timeText(part[key]),
        'aria-label': `Part ${index + 1} ${label}`,
        onchange: ({ target }) => {
          const sec = readTime(target.value)
          const next = { ...part, [key]: sec }
          const isValid = sec !== undefined && next.startSec < next.endSec && sec <= durationSec + 0.1
          target.setAttribute('aria-invalid', String(!isValid))
          if (!isValid) return
          parts = parts.with(index, next)
          part = next
          changed()
        },
      })
    const remove = () => {
      set(parts.toSpliced(index, 1))
      byId('add-part').focus()
    }
    return make(
      'li',
      {},
      field('startSec', 'from'),
      'to',
      field('endSec', 'to'),
      make('button', { type: 'button', onclick: remove, 'aria-label': `Remove part ${index + 1}` }, 'Remove'),
    )
  }

  return {
    get all() {
      return parts
    },
    add,
    reset(sec) {
      durationSec = sec
      parts = []
      show()
    },
    learnDuration(sec) {
      durationSec = sec
    },
    offerNoisy(ranges) {
      noisy = ranges.map(({ startSec, endSec }) => ({ startSec, endSec: endSec ?? durationSec }))
      noisyButton.hidden = noisy.length === 0
    },
  }
}
