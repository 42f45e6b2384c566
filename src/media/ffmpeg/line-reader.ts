/** Longer lines are cut: a broken file can make a tool print megabytes without a line break. */
const MAX_LINE_CHARS = 4096

/** Splits a stream of text into lines (`\n`, `\r\n` or `\r`) in bounded memory. */
export class LineReader {
  #rest = ''
  readonly #onLine: (line: string) => void

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  push(text: string): void {
    const lines = (this.#rest + text).split(/\r\n|\n|\r/)
    this.#rest = (lines.pop() ?? '').slice(-MAX_LINE_CHARS)
    for (const line of lines) this.#onLine(line.slice(0, MAX_LINE_CHARS))
  }

  end(): void {
    if (this.#rest !== '') this.#onLine(this.#rest)
    this.#rest = ''
  }
}

/** Keeps the last lines of a tool's output. */
export class LineTail {
  readonly #lines: string[] = []
  readonly #maxLines: number

  constructor(maxLines: number) {
    this.#maxLines = maxLines
  }

  push(line: string): void {
    this.#lines.push(line)
    if (this.#lines.length > this.#maxLines) this.#lines.shift()
  }

  get text(): string {
    return this.#lines.join('\n')
  }
}
