/** Handlers that run one after the other for each file, or two messages of a file could overtake each other. */
export class FileTurns {
  readonly #last = new Map<string, Promise<void>>()

  /** Runs the handler after those of the same file, even if they failed. */
  async take(fileId: string, handler: () => Promise<void>): Promise<void> {
    const before = this.#last.get(fileId) ?? Promise.resolve()
    const turn = before.catch(() => {}).then(handler)
    this.#last.set(fileId, turn)
    try {
      await turn
    } finally {
      if (this.#last.get(fileId) === turn) this.#last.delete(fileId)
    }
  }
}
