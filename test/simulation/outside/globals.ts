import { setCurrentWorld } from '../world/current-world.js'
import type { Happening } from '../world/scheduler.js'
import { ProcessGone } from '../world/sim-process.js'
import type { World } from '../world/world.js'

const real = { Date, setTimeout, clearTimeout, setInterval, clearInterval, random: Math.random }
const realNow = performance.now.bind(performance)
const realKill = process.kill.bind(process)
const realPid = process.pid

/** What the timer functions give back. */
class SimTimer {
  happening: Happening | null = null
  unref = () => this
  ref = () => this
  hasRef = () => true
}

/**
 * Puts clock, timers, random numbers and process numbers of a world in the place of the real ones.
 *
 * @returns how to undo that
 */
export function enterWorld(world: World): () => void {
  setCurrentWorld(world)
  const { scheduler, random } = world
  const { stackTraceLimit } = Error
  // Stacks cost more than all the rest of an error, and most errors only say that a file is not there.
  if (!process.env.VOXMUX_SEED) Error.stackTraceLimit = 0
  class SimDate extends real.Date {
    constructor(...given: readonly unknown[]) {
      super(...((given.length === 0 ? [world.wallMs] : given) as [number]))
    }
    static override now = () => Math.floor(world.wallMs)
  }
  const timeout = (callback: (...values: unknown[]) => void, delayMs = 0, ...values: unknown[]) => {
    if (!scheduler.current) return real.setTimeout(callback, delayMs, ...values)
    const timer = new SimTimer()
    timer.happening = scheduler.after(Math.max(1, delayMs), scheduler.current, () => callback(...values))
    return timer
  }
  const interval = (callback: (...values: unknown[]) => void, delayMs = 0, ...values: unknown[]) => {
    const owner = scheduler.current
    if (!owner) return real.setInterval(callback, delayMs, ...values)
    const timer = new SimTimer()
    const beat = () => {
      timer.happening = scheduler.after(Math.max(1, delayMs), owner, beat)
      callback(...values)
    }
    timer.happening = scheduler.after(Math.max(1, delayMs), owner, beat)
    return timer
  }
  const clear = (timer: unknown) => {
    if (!(timer instanceof SimTimer)) return real.clearTimeout(timer as NodeJS.Timeout)
    if (timer.happening) timer.happening.isCancelled = true
  }
  Object.assign(globalThis, { Date: SimDate, setTimeout: timeout, setInterval: interval })
  Object.assign(globalThis, { clearTimeout: clear, clearInterval: clear })
  Math.random = () => (scheduler.current ? random.next() : real.random())
  performance.now = () => (scheduler.current ? scheduler.uptimeMs : realNow())
  Object.defineProperty(process, 'pid', { configurable: true, get: () => scheduler.current?.pid ?? realPid })
  process.kill = (pid, signal) => {
    if (!scheduler.current) return realKill(pid, signal)
    if (world.processes.has(pid)) return true
    throw Object.assign(new Error('no such process'), { code: 'ESRCH' })
  }
  const rejections = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', (reason) => {
    if (reason instanceof ProcessGone || (reason as Error)?.cause instanceof ProcessGone) return
    const shown = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)
    world.break('no process ends by itself', `a rejection was not handled: ${shown}`)
  })
  return () => {
    setCurrentWorld(null)
    const { random: realRandom, ...globals } = real
    Object.assign(globalThis, globals)
    Error.stackTraceLimit = stackTraceLimit
    Math.random = realRandom
    performance.now = realNow
    process.kill = realKill
    Object.defineProperty(process, 'pid', { configurable: true, value: realPid, writable: true })
    process.removeAllListeners('unhandledRejection')
    for (const listener of rejections) process.on('unhandledRejection', listener)
  }
}
