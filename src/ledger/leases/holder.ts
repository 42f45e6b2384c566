import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** A process that may hold leases, distinguishable from later processes with the same number. */
export interface Holder {
  /** Host name and, on Linux, boot and process namespace. Only there is `pid` meaningful. */
  readonly host: string
  readonly pid: number
  /** Start time of the process in clock ticks since boot; null if unknown (not Linux). */
  readonly startTicks: string | null
}

/** This process. */
export function thisHolder(): Holder {
  return { host: thisHost(), pid: process.pid, startTicks: startTicks(process.pid) }
}

/**
 * True only if the process is certainly gone: it ran on this host, and its number is free or reused. Processes of other
 * hosts, containers and boots are unknown; their leases expire by time.
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
    // EPERM: the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** A killed process still accepts signals until its parent has collected it. */
function isZombie(pid: number): boolean {
  const state = statFields(pid)?.[0]
  return state === 'Z' || state === 'X'
}

function startTicks(pid: number): string | null {
  return statFields(pid)?.[19] ?? null
}

/** Fields of /proc/<pid>/stat from the third on. The second may contain spaces and parentheses. */
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
