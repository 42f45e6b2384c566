import type { Redis } from 'ioredis'
import type { FileNews } from '../file-news.js'

/** {@link FileNews} on a channel of Redis. A message without a listener is dropped. */
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

  async listen(onFile: (fileId: string) => void): Promise<() => Promise<void>> {
    // A subscribed connection can do nothing else. It reconnects and subscribes again by itself.
    const subscriber = this.#client.duplicate()
    subscriber.on('error', () => {})
    subscriber.on('message', (_channel, fileId) => onFile(fileId))
    await subscriber.subscribe(this.#channel)
    return async () => subscriber.disconnect()
  }
}
