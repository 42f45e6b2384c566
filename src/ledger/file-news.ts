import type { Database } from './database/database.js'

const CHANNEL = 'files'

/**
 * Reports files that ended at the service, from the process that receives webhooks to all others of a store. It only
 * saves time: a process that misses a report polls the service. A message without a
 * listener is dropped.
 */
export class FileNews {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  tell(fileId: string): Promise<void> {
    return this.#database.notify(CHANNEL, fileId)
  }

  /** @returns a function that stops listening */
  async listen(hear: (fileId: string) => void): Promise<() => Promise<void>> {
    return (await this.#database.listen(CHANNEL, hear)).stop
  }
}
