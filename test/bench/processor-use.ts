import { readFileSync } from 'node:fs'

/** Linux counts processor time in hundredths of a second, for programs, on every platform that Node runs on. */
const TICKS_PER_SEC = 100

/** Seconds of processor time that a process and its threads have used; 0 where the system does not say (not Linux). */
export function processorSec(pid: number): number {
  // User and system time: fields 14 and 15.
  return ticksOf(pid, 14, 15) / TICKS_PER_SEC
}

/** The same of all processes that this one has started and that have ended, with those that they started themselves. */
export function endedChildrenSec(): number {
  return ticksOf(process.pid, 16, 17) / TICKS_PER_SEC
}

/** The sum of fields of a process, counted from 1. */
function ticksOf(pid: number, ...places: readonly number[]): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field, the command's name, may hold spaces and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return places.reduce((sum, place) => sum + Number(fields[place - 3]), 0)
  } catch {
    return 0
  }
}
