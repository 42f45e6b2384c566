import { readFileSync } from 'node:fs'

/** Linux counts processor time in hundredths of a second, for programs, on every platform that Node runs on. */
const TICKS_PER_SEC = 100

/** Seconds of processor time that a process and its threads have used; 0 where the system does not say (not Linux). */
export function processorSec(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Fields 14 and 15 of the line; the second, the command's name, may hold spaces and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SEC
  } catch {
    return 0
  }
}
