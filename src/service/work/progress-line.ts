/**
 * Writes progress values one at a time and skips outdated ones: an engine is faster than a store.
 *
 * @param write one value
 * @param failed handles a failed write; only a lost lease stops the file
 */
export function progressLine(write: (percent: number) => Promise<void>, failed: (error: unknown) => void) {
  let latest: number | undefined
  let writing: Promise<void> | undefined

  async function drain(): Promise<void> {
    while (latest !== undefined) {
      const percent = latest
      latest = undefined
      await write(percent).catch(failed)
    }
    writing = undefined
  }

  return {
    tell(percent: number) {
      latest = percent
      writing ??= drain()
    },
    /** Resolves when no write is pending. */
    settled: async () => writing,
  }
}
