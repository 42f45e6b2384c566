import { byId, setText } from './elements.js'

const QUIET_MS = 3000
let waiting = []

/** Says something to a screen reader; what comes in quick succession is said together. */
export function announce(text) {
  waiting.push(text)
  if (waiting.length > 1) return
  setTimeout(() => {
    setText(byId('announcer'), waiting.slice(-4).join(' '))
    waiting = []
  }, QUIET_MS)
}

let toastTimer

/** Shows (and says at once) what became of something the person did. */
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
