import type { Redis } from 'ioredis'
import type { Holder } from '../leases/holder.js'
import type { Bull } from './bull-recorder.js'
import type { RedisScripts } from './redis-scripts.js'

/** The dependencies of a store on Redis. */
export interface RedisStoreContext {
  readonly client: Redis
  readonly bull: Bull
  readonly scripts: RedisScripts
  readonly prefix: string
  readonly holder: Holder
}
