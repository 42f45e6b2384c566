import type { Config } from '../../config/index.js'
import { UsageError } from '../../core/errors.js'
import { inspectSharedStore, type SharedStoreReport } from '../../ledger/index.js'
import { describeBytes } from '../../precheck/index.js'
import { type Finding, fault, finding, fine, remark } from './finding.js'

/** Above this share of its memory limit, Redis is nearly full. */
const NEARLY_FULL = 0.8

/**
 * Checks the configured shared store of jobs and of the service: reachable, and durable for every acknowledged write.
 */
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
      new UsageError('ERR_STORE_NOT_DURABLE', 'Redis does not log to disk, so a crash loses jobs, payments and keys.', {
        remedies: ['Set `appendonly yes` (and `appendfsync always`, or `everysec` to risk one second).'],
      }),
    )
  if (appendSync === 'always') return fine('store on disk', 'every write is on disk before it is acknowledged')
  if (appendSync === null) return remark('store on disk', 'logged; Redis does not report when it syncs the log')
  if (appendSync === 'everysec')
    return remark('store on disk', 'a power loss can lose the last second (appendfsync everysec)')
  return remark('store on disk', `the operating system decides when to sync the log (appendfsync ${appendSync})`)
}

function eviction({ evictionPolicy }: SharedStoreReport): Finding {
  if (evictionPolicy === 'noeviction') return fine('store full', 'refuses writes when full and evicts nothing')
  return fault(
    'store full',
    new UsageError(
      'ERR_STORE_EVICTS',
      `Redis evicts keys when its memory is full (${evictionPolicy}), which loses jobs.`,
      {
        remedies: ['Set `maxmemory-policy noeviction`.'],
      },
    ),
  )
}

/** Reports what a failover could lose. Empty for a server without replicas. */
function copies({ replicas, requiredReplicas, awaitedReplicas }: SharedStoreReport): readonly Finding[] {
  const check = 'store copies'
  if (replicas < Math.max(awaitedReplicas, requiredReplicas ?? 0))
    return [
      fault(
        check,
        new UsageError('ERR_STORE_COPIES', `Writes wait for more replicas than are connected (${replicas}).`, {
          remedies: ['Start the replicas, or lower `?replicas=` in the address and `min-replicas-to-write` in Redis.'],
        }),
      ),
    ]
  if (awaitedReplicas > 0) return [fine(check, `each write reaches ${awaitedReplicas} more before it counts as done`)]
  if (replicas === 0) return []
  if ((requiredReplicas ?? 0) === 0)
    return [
      remark(check, 'a failover can lose writes that the replicas do not have yet', [
        'Set `min-replicas-to-write 1`, and add `?replicas=1` to the address to lose nothing.',
      ]),
    ]
  return [remark(check, 'a failover can lose the last moment; `?replicas=1` in the address waits for a replica')]
}

function memory({ usedBytes, maxBytes }: SharedStoreReport): readonly Finding[] {
  if (maxBytes === null || usedBytes < NEARLY_FULL * maxBytes) return []
  return [
    remark(
      'store memory',
      `${Math.round((100 * usedBytes) / maxBytes)} % used; raise maxmemory or forget old jobs with \`voxmux jobs forget\``,
    ),
  ]
}
