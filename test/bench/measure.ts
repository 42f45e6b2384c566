import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'

/** Wall-clock seconds that some work takes. */
export async function timedSec(work: () => unknown): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1000
}

/** Middle of several measurements, taken one after another. */
export async function median(rounds: number, measure: () => Promise<number>): Promise<number> {
  const values: number[] = []
  for (let round = 0; round < rounds; round++) values.push(await measure())
  values.sort((a, b) => a - b)
  return values[Math.floor(rounds / 2)] ?? Number.NaN
}

/** Resident memory of a process now, in MB (Linux). */
export function memoryMb(child: ChildProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? Number.NaN) / 1024)
}

/** Processor time that a process has taken over its life, in seconds, without that of its children (Linux). */
export function processorSec(child: ChildProcess): number {
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
  // Of the fields behind the name, in clock ticks of 10 ms: user and system (proc(5): 14 and 15).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Highest resident memory of a process over its life, in MB (the kernel's own high-water mark; Linux). */
export function peakMemoryMb(child: ChildProcess): Promise<number> {
  let peakKb = 0
  const look = () => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      peakKb = Math.max(peakKb, Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0))
    } catch {
      // It has just ended: the mark read before stands.
    }
  }
  const timer = setInterval(look, 50)
  return new Promise((resolve) => {
    child.once('close', () => {
      clearInterval(timer)
      resolve(Math.round(peakKb / 1024))
    })
  })
}
