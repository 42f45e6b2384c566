import type { Redis } from 'ioredis'
import type { Holder } from '../holder.js'
import type { Bull } from './bull-recorder.js'
import type { RedisScripts } from './redis-scripts.js'

/** What a store on Redis works with. */
export interface RedisStoreContext {
  readonly client: Redis
  readonly bull: Bull
  readonly scripts: RedisScripts
  readonly prefix: string
  readonly holder: Holder
}
