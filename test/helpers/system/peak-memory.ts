import type { ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'

/** The most memory that a process has used so far (VmHWM of Linux), in bytes; 0 if it has ended. */
export async function peakMemory({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024
}
