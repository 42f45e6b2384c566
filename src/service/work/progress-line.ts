/**
 * Writes progress values one at a time and skips those that are outdated. An engine reports far more often than a store
 * on the network can write.
 */
export class ProgressLine {
  private latest: number | undefined
  private writing: Promise<void> | undefined

  /**
   * @param write writes one value
   * @param failed handles a failed write; only a lost lease is a reason to stop the file
   */
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
