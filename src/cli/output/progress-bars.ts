import type { WriteStream } from 'node:tty'
import { visibleLines, visibleText } from '../../core/visible-text.js'
import { clock } from './clock.js'
import type { ShownProgress } from './job-progress.js'

/** A file in progress. */
interface Bar extends ShownProgress {
  readonly name: string
  /** Seconds of sound in the work; undefined while that is not known. */
  readonly soundSec?: number | undefined
}

interface ShownBar extends Bar {
  readonly sinceMs: number
  readonly updatedMs: number
}

const BAR_CELLS = 24
const LEAST_BAR_CELLS = 10
const NAME_CELLS = 30
const LEAST_NAME_CELLS = 8
/** From this width on, a row has a bar besides its figures. */
const WIDE_CELLS = 78
/** Shortest time between two repaints, in milliseconds. */
const REPAINT_MS = 80
/** Longest time between two repaints. The seconds move even if the work reports nothing. */
const HEARTBEAT_MS = 1000
/**
 * Removes the bars. The cursor waits at the start of the first row, because a terminal that wraps the rows at a new width
 * keeps it there.
 */
export const ERASE = '\u001b[1G\u001b[0J'
/** Before this share of the work is done, an estimate of the rest would jump. */
const LEAST_PERCENT = 5
const LEAST_MS = 3000
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u

/** One bar per file at the foot of a terminal. Permanent lines are written above the bars. */
export class ProgressBars {
  readonly #stream: WriteStream
  readonly #total: number
  readonly #startedMs = performance.now()
  readonly #taskbar: TaskbarProgress
  readonly #bars = new Map<string, ShownBar>()
  #ended = 0
  #isPainted = false
  #timer: NodeJS.Timeout | undefined
  #heartbeat: NodeJS.Timeout | undefined

  /** @param total number of files; 0 if it is unknown */
  constructor(stream: WriteStream, total = 0) {
    this.#stream = stream
    this.#total = total
    this.#taskbar = new TaskbarProgress(stream)
  }

  /** Updates a file's progress. The percentage never falls. */
  update(key: string, bar: Bar): void {
    const known = this.#bars.get(key)
    const percent = Math.max(bar.percent, known?.percent ?? 0)
    const updatedMs = performance.now()
    this.#bars.set(key, { ...bar, percent, sinceMs: known?.sinceMs ?? updatedMs, updatedMs })
    this.#timer ??= setTimeout(() => this.#repaint(''), REPAINT_MS).unref()
    this.#heartbeat ??= setInterval(() => this.#repaint(''), HEARTBEAT_MS).unref()
  }

  remove(key: string): void {
    this.#bars.delete(key)
    this.#ended += 1
  }

  /** Writes permanent text above the bars. */
  write(text: string): void {
    this.#repaint(`${visibleLines(text)}\n`)
  }

  stop(): void {
    clearInterval(this.#heartbeat)
    this.#heartbeat = undefined
    this.#bars.clear()
    this.#repaint('')
    this.#taskbar.clear()
  }

  #repaint(text: string): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const bars = [...this.#bars.values()]
    const rows = bars.slice(0, Math.max(1, (this.#stream.rows || 24) - 3)).map((bar) => this.#row(bar))
    if (bars.length > 0 && this.#total > 1) rows.push(this.#countRow())
    const erase = this.#isPainted ? ERASE : ''
    this.#isPainted = rows.length > 0
    const back = this.#isPainted ? `\u001b[${rows.length}A` : ''
    this.#stream.write(erase + text + rows.map((row) => `${row}\n`).join('') + back)
    if (bars.length > 0) this.#taskbar.show(this.#wholePercent(bars))
  }

  #wholePercent(bars: readonly ShownBar[]): number {
    const working = bars.reduce((sum, { percent }) => sum + percent, 0)
    // A daemon has no last file.
    return this.#total === 0 ? working / bars.length : (100 * this.#ended + working) / this.#total
  }

  #countRow(): string {
    const elapsedMs = performance.now() - this.#startedMs
    return fitCells(`${this.#ended} of ${this.#total} files, ${clock(elapsedMs)}`, this.#columns())
  }

  #row(bar: ShownBar): string {
    const { name, percent, label } = bar
    const elapsedMs = performance.now() - bar.sinceMs
    const share = `${String(Math.floor(percent)).padStart(3)} %`
    const figures = [clock(elapsedMs), ...estimates(bar, elapsedMs)]
    const columns = this.#columns()
    if (columns < WIDE_CELLS) {
      // The label goes first, then the speed, then the time that is left.
      const shorter = figures.map((_, dropped) => `${share} ${figures.slice(0, figures.length - dropped).join(', ')}`)
      const room = columns - LEAST_NAME_CELLS - 1
      const fitting = [`${shorter[0]} ${label}`, ...shorter].find(({ length }) => length <= room) ?? share
      return fitCells(`${fitCells(name, columns - fitting.length - 1)} ${fitting}`, columns)
    }
    const text = `${share}  ${figures.join(', ')}  ${label}`
    const room = columns - text.length - 2
    const barCells = Math.max(LEAST_BAR_CELLS, Math.min(BAR_CELLS, room - NAME_CELLS))
    const nameCells = Math.max(LEAST_NAME_CELLS, Math.min(NAME_CELLS, room - barCells))
    const filled = Math.round((percent / 100) * barCells)
    const cells = '█'.repeat(filled) + '░'.repeat(barCells - filled)
    return fitCells(`${fitCells(name, nameCells).padEnd(nameCells)} ${cells} ${text}`, columns)
  }

  #columns(): number {
    // A terminal that does not know its size states 0.
    return (this.#stream.columns || 80) - 1
  }
}

/** The time until the end and the speed against real time. An estimate that has run out was wrong, and is not shown. */
function estimates({ percent, soundSec, leftMs, updatedMs }: ShownBar, elapsedMs: number): readonly string[] {
  if (percent < LEAST_PERCENT || percent >= 100 || elapsedMs < LEAST_MS || leftMs === null) return []
  const nowLeftMs = leftMs - (performance.now() - updatedMs)
  if (nowLeftMs <= 0) return []
  const left = `${clock(nowLeftMs)} left`
  return soundSec === undefined ? [left] : [left, `${((1000 * soundSec) / (elapsedMs + nowLeftMs)).toFixed(1)}x`]
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

/** The progress that a terminal shows in its tab or in the taskbar (the control sequence OSC 9;4 of ConEmu). */
export class TaskbarProgress {
  readonly #stream: WriteStream
  readonly #isKnown: boolean
  #shown: number | undefined

  constructor(stream: WriteStream, env: NodeJS.ProcessEnv = process.env) {
    this.#stream = stream
    this.#isKnown = stream.isTTY === true && showsProgress(env)
  }

  /** @param percent 0 … 100 */
  show(percent: number): void {
    const whole = Math.floor(percent)
    if (!this.#isKnown || whole === this.#shown) return
    this.#shown = whole
    this.#stream.write(`\u001b]9;4;1;${whole}\u0007`)
  }

  clear(): void {
    if (this.#shown === undefined) return
    this.#shown = undefined
    this.#stream.write('\u001b]9;4;0;0\u0007')
  }
}

/** Other terminals would show the sequence as a desktop notification: Windows Terminal, ConEmu, Ghostty, VTE from 0.79. */
function showsProgress({ WT_SESSION, ConEmuANSI, TERM_PROGRAM, VTE_VERSION }: NodeJS.ProcessEnv): boolean {
  return Boolean(WT_SESSION) || ConEmuANSI === 'ON' || TERM_PROGRAM === 'ghostty' || Number(VTE_VERSION ?? 0) >= 7900
}
