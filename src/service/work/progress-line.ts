/**
 * Writes progress one after the other and leaves out what was overtaken meanwhile: an engine tells of it far more often
 * than a store on the network takes it.
 */
export class ProgressLine {
  private latest: number | undefined
  private writing: Promise<void> | undefined

  /**
   * @param write one step
   * @param failed what becomes of a step that throws: progress is no reason to give up a file, a lost lease is
   */
  constructor(
    private readonly write: (percent: number) => Promise<void>,
    private readonly failed: (error: unknown) => void,
  ) {}

  tell(percent: number): void {
    this.latest = percent
    this.writing ??= this.drain()
  }

  /** Ends when nothing is on its way any more. */
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
