import type { Config } from '../../config/index.js'
import { UsageError } from '../../core/errors.js'
import { inspectSharedStore, type SharedStoreReport } from '../../jobs/index.js'
import { describeBytes } from '../../precheck/index.js'
import { type Finding, fault, finding, fine, remark } from './finding.js'

/** Above this share of its memory a Redis is soon full. */
const NEARLY_FULL = 0.8

/** The shared store of jobs and of the service, where one is configured: reachable, and losing nothing that it acknowledged. */
export async function examineStore({ store }: Pick<Config, 'store'>): Promise<readonly Finding[]> {
  if (store === null) return []
  let report: SharedStoreReport | undefined
  const reached = await finding('store', async () => {
    report = await inspectSharedStore(store)
    const { version, usedBytes, maxBytes, replicas } = report
    const memory = `${describeBytes(usedBytes)}${maxBytes === null ? '' : ` of ${describeBytes(maxBytes)}`} used`
    return `Redis ${version}, ${memory}, ${replicas} ${replicas === 1 ? 'replica' : 'replicas'}`
  })
  return report ? [reached, durability(report), eviction(report), ...copies(report), ...memory(report)] : [reached]
}

function durability({ isAppendOnly, appendSync }: SharedStoreReport): Finding {
  if (!isAppendOnly)
    return fault(
      'store on disk',
      new UsageError(
        'ERR_STORE_NOT_DURABLE',
        'Redis keeps no log on disk: after a crash jobs, payments and keys are gone.',
        {
          remedies: ['Set `appendonly yes` (and `appendfsync always`, or `everysec` to risk one second).'],
        },
      ),
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

/** What a failover would take with it: nothing is said of a server that has no replicas. */
function copies({ replicas, requiredReplicas, awaitedReplicas }: SharedStoreReport): readonly Finding[] {
  const check = 'store copies'
  if (replicas < Math.max(awaitedReplicas, requiredReplicas ?? 0))
    return [
      fault(
        check,
        new UsageError('ERR_STORE_COPIES', `Writes wait for more replicas than there are (${replicas}).`, {
          remedies: ['Start the replicas, or ask for fewer: `?replicas=` in the address, `min-replicas-to-write`.'],
        }),
      ),
    ]
  if (awaitedReplicas > 0) return [fine(check, `each write is on ${awaitedReplicas} more before it counts as done`)]
  if (replicas === 0) return []
  if ((requiredReplicas ?? 0) === 0)
    return [
      remark(check, 'a failover can take with it whatever the replicas did not have yet', [
        'Set `min-replicas-to-write 1`, and add `?replicas=1` to the address to lose nothing.',
      ]),
    ]
  return [
    remark(check, 'a failover can take the last moment with it: `?replicas=1` in the address waits for a replica'),
  ]
}

function memory({ usedBytes, maxBytes }: SharedStoreReport): readonly Finding[] {
  if (maxBytes === null || usedBytes < NEARLY_FULL * maxBytes) return []
  return [
    remark('store memory', `${Math.round((100 * usedBytes) / maxBytes)} % used: raise maxmemory or forget old jobs`),
  ]
}
