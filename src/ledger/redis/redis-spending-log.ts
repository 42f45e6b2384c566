import {
  DAY_MS,
  type DaySpending,
  dayOf,
  OPEN_DAYS,
  overLimit,
  type SpendingLimit,
  type SpendingLog,
} from '../spending/spending-log.js'
import type { RedisScripts, StoreScript } from './redis-scripts.js'

/**
 * `own:spent:<day>` holds the two sums of a day and stays. `own:spending:<day>` holds its entries: id → `r` or `c` and
 * seconds. It expires after some days, because nobody commits or releases later. A[1] is the id. A[2] lists the days of
 * a possible entry, today first, with commas.
 */
const ENTRY = `
local days = {}
for day in string.gmatch(A[2], '[^,]+') do days[#days + 1] = day end
local KEEP_SEC = 5 * 86400
local function find()
  for _, day in ipairs(days) do
    local entry = redis.call('HGET', own .. 'spending:' .. day, A[1])
    if entry then return day, string.sub(entry, 1, 1), string.sub(entry, 3) end
  end
end
local function add(day, what, sec) redis.call('HINCRBYFLOAT', own .. 'spent:' .. day, what, sec) end
`

const SCRIPTS = {
  /** A[3] seconds, A[4] limit or ''. */
  reserve: {
    lua: `${ENTRY}
local today = days[1]
local before, kind, sec = find()
if kind == 'c' then return { 'known' } end
local sums = redis.call('HMGET', own .. 'spent:' .. today, 'committed', 'reserved')
local spent = tonumber(sums[1] or 0) + tonumber(sums[2] or 0)
-- An earlier reservation is replaced: it may be from yesterday, or have another length.
if before == today then spent = spent - tonumber(sec) end
local over = A[4] ~= '' and spent + tonumber(A[3]) > tonumber(A[4])
if before then
  redis.call('HDEL', own .. 'spending:' .. before, A[1])
  add(before, 'reserved', '-' .. sec)
end
if over then return { 'over', tostring(spent) } end
redis.call('HSET', own .. 'spending:' .. today, A[1], 'r ' .. A[3])
redis.call('EXPIRE', own .. 'spending:' .. today, KEEP_SEC)
add(today, 'reserved', A[3])
return { 'ok' }`,
  },

  commit: {
    lua: `${ENTRY}
local day, kind, sec = find()
if kind ~= 'r' then return 0 end
redis.call('HSET', own .. 'spending:' .. day, A[1], 'c ' .. sec)
add(day, 'reserved', '-' .. sec)
add(day, 'committed', sec)
return 1`,
  },

  release: {
    lua: `${ENTRY}
local day, kind, sec = find()
if kind ~= 'r' then return 0 end
redis.call('HDEL', own .. 'spending:' .. day, A[1])
add(day, 'reserved', '-' .. sec)
return 1`,
  },

  /** A[2] as above. */
  reserved: {
    lua: `${ENTRY}
local ids = {}
for _, day in ipairs(days) do
  local entries = redis.call('HGETALL', own .. 'spending:' .. day)
  for at = 1, #entries, 2 do
    if string.sub(entries[at + 1], 1, 1) == 'r' then ids[#ids + 1] = entries[at] end
  end
end
return ids`,
  },

  /** A[1] the day. */
  spent: { lua: `return redis.call('HMGET', own .. 'spent:' .. A[1], 'committed', 'reserved')` },
} as const satisfies Record<string, StoreScript>

/** {@link SpendingLog} on Redis: one limit for all machines. */
export class RedisSpendingLog implements SpendingLog {
  readonly #scripts: RedisScripts

  constructor({ scripts }: { readonly scripts: RedisScripts }) {
    this.#scripts = scripts
  }

  async reserve(id: string, sec: number, { maxSecondsPerDay }: SpendingLimit): Promise<void> {
    const answer = (await this.#run('reserve', [id, this.#days(), sec, maxSecondsPerDay ?? ''])) as string[]
    if (answer[0] === 'over') throw overLimit(Number(answer[1]), sec, maxSecondsPerDay ?? 0)
  }

  async commit(id: string): Promise<void> {
    await this.#run('commit', [id, this.#days()])
  }

  async release(id: string): Promise<void> {
    await this.#run('release', [id, this.#days()])
  }

  async reserved(): Promise<readonly string[]> {
    return (await this.#run('reserved', ['', this.#days()])) as string[]
  }

  async spent(day: string = this.#day(0)): Promise<DaySpending> {
    const [committed, reserved] = (await this.#run('spent', [day])) as (string | null)[]
    return { day, committedSec: Number(committed ?? 0), reservedSec: Number(reserved ?? 0) }
  }

  #run(name: keyof typeof SCRIPTS, own: readonly (string | number)[]): Promise<unknown> {
    return this.#scripts.run(`spending-${name}`, SCRIPTS[name], own)
  }

  #days(): string {
    return Array.from({ length: OPEN_DAYS }, (_, ago) => this.#day(ago)).join(',')
  }

  #day(ago: number): string {
    return dayOf(this.#scripts.now() - ago * DAY_MS)
  }
}
