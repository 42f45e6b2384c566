import type { WriteStream } from 'node:tty'
import { visibleLines, visibleText } from '../../core/visible-text.js'

/** A file in progress. */
export interface Bar {
  readonly name: string
  readonly percent: number
  readonly label: string
}

const BAR_CELLS = 24
const NAME_CELLS = 30
/** Shortest time between two repaints, in milliseconds. */
const REPAINT_MS = 80
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u

/** One bar per file at the foot of a terminal. Permanent lines are written above the bars. */
export class ProgressBars {
  readonly #stream: WriteStream
  readonly #bars = new Map<string, Bar>()
  #paintedRows = 0
  #timer: NodeJS.Timeout | undefined

  constructor(stream: WriteStream) {
    this.#stream = stream
  }

  /** Updates a file's progress. The percentage never falls. */
  update(key: string, bar: Bar): void {
    const percent = Math.max(bar.percent, this.#bars.get(key)?.percent ?? 0)
    this.#bars.set(key, { ...bar, percent })
    this.#timer ??= setTimeout(() => this.#repaint(''), REPAINT_MS).unref()
  }

  /** Removes a file's bar. */
  remove(key: string): void {
    this.#bars.delete(key)
  }

  /** Writes permanent text above the bars. */
  write(text: string): void {
    this.#repaint(`${visibleLines(text)}\n`)
  }

  /** Removes all bars for good. */
  stop(): void {
    this.#bars.clear()
    this.#repaint('')
  }

  #repaint(text: string): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const rows = [...this.#bars.values()]
      .slice(0, Math.max(1, (this.#stream.rows ?? 24) - 2))
      .map((bar) => this.#row(bar))
    const clear = this.#paintedRows > 0 ? `\u001b[${this.#paintedRows}A\u001b[0J` : ''
    this.#stream.write(clear + text + rows.map((row) => `${row}\n`).join(''))
    this.#paintedRows = rows.length
  }

  #row({ name, percent, label }: Bar): string {
    const filled = Math.round((percent / 100) * BAR_CELLS)
    const bar = '█'.repeat(filled) + '░'.repeat(BAR_CELLS - filled)
    const row = `${fitCells(name, NAME_CELLS).padEnd(NAME_CELLS)} ${bar} ${String(Math.floor(percent)).padStart(3)} %  ${label}`
    return fitCells(row, (this.#stream.columns ?? 80) - 1)
  }
}

/** Cuts a text to a number of cells. A line that wraps would stay on screen after a repaint. */
export function fitCells(text: string, cells: number): string {
  const characters = [...visibleText(text)]
  let used = 0
  const end = characters.findIndex((character) => {
    used += WIDE.test(character) ? 2 : 1
    return used > cells
  })
  return end === -1 ? characters.join('') : `${characters.slice(0, Math.max(0, end - 1)).join('')}…`
}
