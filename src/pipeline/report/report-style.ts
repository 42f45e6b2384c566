/** The styles of the page: light or dark by the system's setting, one column on a phone. */
export const REPORT_STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #2b6cb0 }
@media (prefers-color-scheme: dark) { :root { --accent: #7ab8f5 } }
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 0 auto; padding: 1.5rem 1rem 4rem }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere } h2 { font-size: 1.1rem; margin: 2.5rem 0 .5rem }
p { margin: .25rem 0 } .quiet { opacity: .75 }
.player { display: flex; flex-wrap: wrap; gap: .75rem 1rem; align-items: center; padding: .75rem; border: 1px solid var(--line); border-radius: .75rem; position: sticky; top: .5rem; background: Canvas; z-index: 1 }
.player input[type=range] { flex: 1 1 12rem; min-width: 0; accent-color: var(--accent) }
fieldset { display: flex; border: 1px solid var(--line); border-radius: .5rem; padding: 0; margin: 0; overflow: hidden }
fieldset label { padding: .4rem 1rem; cursor: pointer } fieldset input { position: absolute; opacity: 0 }
fieldset label:has(:checked) { background: var(--accent); color: Canvas } fieldset label:has(:focus-visible) { outline: 3px solid Highlight; outline-offset: -3px }
button { font: inherit; padding: .4rem 1rem; min-width: 5rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--soft); color: inherit; cursor: pointer }
output { font-variant-numeric: tabular-nums }
.pictures { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; margin-top: 1rem }
figure { margin: 0 } img { display: block; width: 100%; height: auto; border-radius: .5rem; background: var(--soft) } figcaption { font-size: .85rem; opacity: .75 }
.scroll { overflow-x: auto } table { border-collapse: collapse; min-width: 100% }
th, td { text-align: left; padding: .35rem 1rem .35rem 0; border-top: 1px solid var(--line); vertical-align: top } td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
code { font-size: .85em; overflow-wrap: anywhere }
.certificate { border: 1px solid var(--line); border-radius: .75rem; padding: 1rem; margin-top: 1rem } .certificate h2 { margin-top: 0 } .certificate h3 { font-size: 1rem; margin: 1rem 0 .25rem }
@page { size: A4; margin: 15mm }
@media print {
  :root { color-scheme: light }
  body:has(.certificate) { padding: 0; max-width: none; font-size: 10.5pt }
  body:has(.certificate) > header, main:has(.certificate) > :not(.certificate) { display: none }
  .certificate { border: 0; padding: 0; margin: 0; break-inside: avoid } .scroll { overflow: visible } table { width: 100% }
  .certificate :is(th, td) { padding: .2rem .6rem .2rem 0 }
}
@media (max-width: 40rem) {
  .pictures { grid-template-columns: 1fr }
  table { font-size: .9rem } th, td { padding-right: .6rem }
  /* The last of six columns moves below the others. */
  table:has(th:nth-child(6)) :is(thead, tbody) { display: block }
  table:has(th:nth-child(6)) tr { display: grid; grid-template-columns: 3.4rem 4rem 1fr 1.4fr 1.2fr; border-top: 1px solid var(--line) }
  table:has(th:nth-child(6)) :is(th, td) { border: 0; overflow-wrap: anywhere }
  table:has(th:nth-child(6)) :is(th, td):last-child { grid-column: 1 / -1; padding-top: 0; font-size: .8rem }
  table:has(th:nth-child(6)) td:empty { display: none }
}
`

/** One switch for two players: the other one continues at the same position. */
export const REPORT_SCRIPT = `
for (const box of document.querySelectorAll('[data-comparison]')) {
  const [before, after] = box.querySelectorAll('audio')
  const button = box.querySelector('button'), seek = box.querySelector('[type=range]'), clock = box.querySelector('output')
  let now = before
  const offset = Number(box.dataset.startSec)
  const text = (sec) => Math.floor(sec / 60) + ':' + String(Math.floor(sec % 60)).padStart(2, '0')
  const show = () => {
    seek.max = now.duration || seek.max
    seek.value = now.currentTime
    clock.textContent = text(offset + now.currentTime)
    button.textContent = now.paused ? 'Play' : 'Pause'
  }
  const change = (next) => {
    if (next === now) return
    const plays = !now.paused
    next.currentTime = now.currentTime
    now.pause()
    now = next
    if (plays) now.play()
    show()
  }
  for (const radio of box.querySelectorAll('[type=radio]')) radio.addEventListener('change', () => change(radio.value === 'after' ? after : before))
  button.addEventListener('click', () => (now.paused ? now.play() : now.pause()))
  seek.addEventListener('input', () => { now.currentTime = Number(seek.value); show() })
  for (const audio of [before, after]) for (const name of ['timeupdate', 'play', 'pause', 'ended', 'loadedmetadata', 'seeked']) audio.addEventListener(name, () => audio === now && show())
}
`
