import type { StoreScript } from './redis-scripts.js'

/** Our scripts that read jobs and change nothing. */
export const JOB_READS = {
  get: { lua: `local _, _, key = locate(A[1])\nreturn key and read(key) or {}` },
  getByKey: {
    lua: `
local id = redis.call('HGET', own .. 'keys', A[1])
if not id then return {} end
local _, _, key = locate(id)
return key and read(key) or {}`,
  },

  /**
   * A[1] group, used if A[2] is '1'. A[4] input, used if A[3] is '1'. A[5] an id to list before, or ''. A[6] limit.
   * Statuses follow.
   */
  list: {
    lua: `
local numbers = {}
if A[2] == '1' then numbers[1] = redis.call('HGET', own .. 'numbers', A[1]) or nil
else numbers = redis.call('HKEYS', own .. 'groups') end
local limit = tonumber(A[6])
local before = A[5] == '' and '+' or '(' .. A[5]
local wanted, ids = {}, {}
for i = 7, #A do wanted[A[i]] = true end
if A[3] ~= '' then
  local index = inputIndex(A[4])
  local from = A[5] == '' and '(' .. index .. ';' or '(' .. index .. ':' .. A[5]
  for _, entry in ipairs(redis.call('ZREVRANGEBYLEX', own .. 'inputs', from, '[' .. index .. ':')) do
    local id = string.sub(entry, #index + 2)
    local number, _, key = locate(id)
    if number and wanted[redis.call('HGET', key, '_status')] and (A[2] == '' or number == numbers[1]) then
      ids[#ids + 1] = id
    end
  end
else
  for _, number in ipairs(numbers) do
    for i = 7, #A do
      local index = own .. 'index:' .. number .. ':' .. A[i]
      for _, id in ipairs(redis.call('ZREVRANGEBYLEX', index, before, '-', 'LIMIT', 0, limit)) do ids[#ids + 1] = id end
    end
  end
end
table.sort(ids, function(a, b) return a > b end)
local jobs = {}
for i = 1, math.min(limit, #ids) do
  local _, _, key = locate(ids[i])
  jobs[i] = read(key)
end
return jobs`,
  },

  counts: {
    lua: `
local counts = {}
for _, number in ipairs(redis.call('HKEYS', own .. 'groups')) do
  for i = 1, #A do
    local n = redis.call('ZCARD', own .. 'index:' .. number .. ':' .. A[i])
    if n > 0 then counts[#counts + 1] = { redis.call('HGET', own .. 'groups', number), A[i], n } end
  end
end
return counts`,
  },

  /** At most 200 jobs that ended before A[1]. */
  endedBefore: {
    lua: `
local jobs = {}
for _, number in ipairs(redis.call('HKEYS', own .. 'groups')) do
  local base = P .. ':' .. redis.call('HGET', own .. 'queues', number) .. ':'
  for _, set in ipairs({ 'completed', 'failed' }) do
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', base .. set, '-inf', '(' .. A[1], 'LIMIT', 0, 200)) do
      jobs[#jobs + 1] = read(base .. id)
      if #jobs >= 200 then return jobs end
    end
  end
end
return jobs`,
  },
} as const satisfies Record<string, StoreScript>
