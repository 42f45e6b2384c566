/** Writes progress values one at a time and skips outdated ones: an engine is faster than a store. */
export class ProgressLine {
  private latest: number | undefined
  private writing: Promise<void> | undefined

  /** @param write one value @param failed handles a failed write; only a lost lease stops the file */
  constructor(
    private readonly write: (percent: number) => Promise<void>,
    private readonly failed: (error: unknown) => void,
  ) {}

  tell(percent: number): void {
    this.latest = percent
    this.writing ??= this.drain()
  }

  /** Resolves when no write is pending. */
  async settled(): Promise<void> {
    await this.writing
  }

  private async drain(): Promise<void> {
    while (this.latest !== undefined) {
      const percent = this.latest
      this.latest = undefined
      await this.write(percent).catch(this.failed)
    }
    this.writing = undefined
  }
}
