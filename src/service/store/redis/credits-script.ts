/**
 * Credits are whole milliseconds. Earlier versions stored seconds (`creditsSec`, `chargedSec`). The first script that
 * needs them converts them.
 */
export const CREDITS = `
local function inMs(sec) return string.format('%.0f', math.min(tonumber(sec) * 1000, 9007199254740991)) end
local function creditsOf(user)
  local sec = call('HGET', user, 'creditsSec')
  if sec then
    call('HDEL', user, 'creditsSec')
    call('HSETNX', user, 'creditsMs', inMs(sec))
  end
  return call('HGET', user, 'creditsMs')
end
local function chargedOf(file) return file.chargedMs or inMs(file.chargedSec or 0) end
`
