import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** A process that may hold leases, told apart from every later process of the same number. */
export interface Holder {
  /** Host name, and on Linux boot and process namespace: only there does `pid` mean anything. */
  readonly host: string
  readonly pid: number
  /** Start time of the process in clock ticks since boot; null where it cannot be known (not Linux). */
  readonly startTicks: string | null
}

/** This process. */
export function thisHolder(): Holder {
  return { host: thisHost(), pid: process.pid, startTicks: startTicks(process.pid) }
}

/**
 * True only where it is certain that the process is gone: it ran on this host and its number is free or another's.
 * Of other hosts, containers and boots nothing is known here: their leases run out by time.
 */
export function isCertainlyDead(holder: Holder): boolean {
  if (holder.host !== thisHost()) return false
  if (!exists(holder.pid)) return true
  if (holder.startTicks === null) return false
  const now = startTicks(holder.pid)
  return now !== null && now !== holder.startTicks
}

function thisHost(): string {
  const boot = readOrNull(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  const namespace = readOrNull(() => readlinkSync('/proc/self/ns/pid'))
  return [hostname(), boot, namespace].filter((part) => part !== null).join(' ')
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch (error) {
    // EPERM: it exists and is another user's.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** A killed process whose parent has not asked for it yet still answers to signals. */
function isZombie(pid: number): boolean {
  const state = statFields(pid)?.[0]
  return state === 'Z' || state === 'X'
}

function startTicks(pid: number): string | null {
  return statFields(pid)?.[19] ?? null
}

/** Fields 3 and on of /proc/<pid>/stat: the second, the command's name, may hold spaces and parentheses. */
function statFields(pid: number): string[] | null {
  const text = readOrNull(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  return text === null ? null : text.slice(text.lastIndexOf(')') + 2).split(' ')
}

function readOrNull(read: () => string): string | null {
  try {
    return read()
  } catch {
    return null
  }
}
