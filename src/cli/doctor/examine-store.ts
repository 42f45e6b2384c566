import type { Config } from '../../config/index.js'
import { UsageError } from '../../core/errors.js'
import { inspectSharedStore, type SharedStoreReport } from '../../jobs/index.js'
import { describeBytes } from '../../precheck/index.js'
import { type Finding, fault, finding, fine, remark } from './finding.js'

/** Above this share of its memory a Redis is soon full. */
const NEARLY_FULL = 0.8

/** The shared job store, where one is configured: reachable, and losing nothing that it acknowledged. */
export async function examineStore({ store }: Pick<Config, 'store'>): Promise<readonly Finding[]> {
  if (store === null) return []
  let report: SharedStoreReport | undefined
  const reached = await finding('store', async () => {
    report = await inspectSharedStore(store)
    const { version, usedBytes, maxBytes, replicas } = report
    const memory = `${describeBytes(usedBytes)}${maxBytes === null ? '' : ` of ${describeBytes(maxBytes)}`} used`
    return `Redis ${version}, ${memory}, ${replicas} ${replicas === 1 ? 'replica' : 'replicas'}`
  })
  return report ? [reached, durability(report), eviction(report), ...memory(report)] : [reached]
}

function durability({ isAppendOnly, appendSync }: SharedStoreReport): Finding {
  if (!isAppendOnly)
    return fault(
      'store on disk',
      new UsageError('ERR_STORE_NOT_DURABLE', 'Redis keeps no log on disk: after a crash jobs and payments are gone.', {
        remedies: ['Set `appendonly yes` (and `appendfsync always`, or `everysec` to risk one second).'],
      }),
    )
  if (appendSync === 'always') return fine('store on disk', 'every write is on disk before it is acknowledged')
  if (appendSync === null) return remark('store on disk', 'logged; Redis does not tell when the log is synced')
  if (appendSync === 'everysec')
    return remark('store on disk', 'a power loss can take the last second with it (appendfsync everysec)')
  return remark('store on disk', `the log is synced when the system likes (appendfsync ${appendSync})`)
}

function eviction({ evictionPolicy }: SharedStoreReport): Finding {
  if (evictionPolicy === 'noeviction') return fine('store full', 'refuses writes, throws nothing away')
  return fault(
    'store full',
    new UsageError('ERR_STORE_EVICTS', `Redis throws keys away when its memory is full (${evictionPolicy}).`, {
      remedies: ['Set `maxmemory-policy noeviction`.'],
    }),
  )
}

function memory({ usedBytes, maxBytes }: SharedStoreReport): readonly Finding[] {
  if (maxBytes === null || usedBytes < NEARLY_FULL * maxBytes) return []
  return [
    remark('store memory', `${Math.round((100 * usedBytes) / maxBytes)} % used: raise maxmemory or forget old jobs`),
  ]
}
