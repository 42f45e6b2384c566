import { byId, setText } from './elements.js'

const QUIET_MS = 3000
let waiting = []

/** Announces a text to a screen reader. Texts in quick succession are announced together. */
export function announce(text) {
  waiting.push(text)
  if (waiting.length > 1) return
  setTimeout(() => {
    setText(byId('announcer'), waiting.slice(-4).join(' '))
    waiting = []
  }, QUIET_MS)
}

let toastTimer

/** Shows and announces the result of a person's action. */
export function toast(text, tone = 'good') {
  const box = byId('toast')
  box.dataset.tone = tone
  box.hidden = false
  setText(box, text)
  clearTimeout(toastTimer)
  toastTimer = setTimeout(() => {
    box.hidden = true
  }, 6000)
}
