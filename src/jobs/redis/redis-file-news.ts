import type { Redis } from 'ioredis'
import type { FileNews } from '../file-news.js'

/** {@link FileNews} by a channel of Redis: nothing is kept of what nobody hears. */
export class RedisFileNews implements FileNews {
  readonly #client: Redis
  readonly #channel: string

  constructor({ client, prefix }: { readonly client: Redis; readonly prefix: string }) {
    this.#client = client
    this.#channel = `${prefix}:own:news`
  }

  async tell(fileId: string): Promise<void> {
    await this.#client.publish(this.#channel, fileId)
  }

  async listen(hear: (fileId: string) => void): Promise<() => Promise<void>> {
    // A connection that listens can do nothing else. It waits for a Redis that is away, and listens again then.
    const ear = this.#client.duplicate()
    ear.on('error', () => {})
    ear.on('message', (_channel, fileId) => hear(fileId))
    await ear.subscribe(this.#channel)
    return async () => ear.disconnect()
  }
}
