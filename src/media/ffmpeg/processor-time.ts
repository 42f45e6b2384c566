import { readFileSync } from 'node:fs'

/** Linux counts processor time in hundredths of a second for programs (`USER_HZ`), whatever its kernel does. */
const TICKS_PER_SEC = 100
/** Places of `utime` and `stime` behind the name of the program (proc_pid_stat(5)). */
const [USER, SYSTEM] = [11, 12]

/** Processor time that a running process has used, in seconds; undefined where the system does not state it in a file. */
export function processorSec(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name is in brackets and may hold some.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[USER]) + Number(fields[SYSTEM])) / TICKS_PER_SEC
  } catch {
    return undefined
  }
}
