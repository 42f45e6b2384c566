import { vi } from 'vitest'
import { currentWorld } from '../world/current-world.js'
import type { World } from '../world/world.js'
import { simulatedPromises } from './fs-promises.js'
import { simulatedSync } from './fs-sync.js'
import { simulatedMedia } from './media.js'
import { networkOf, serviceOf } from './service-of.js'
import { simulatedLibsql } from './sqlite.js'
import { simulatedTransport } from './transport.js'

/**
 * Replaces what lies outside voxmux: Node's modules for files and timers, and the one importer of SQLite, of HTTP and
 * of ffmpeg each. A real call goes through wherever no simulated world runs. Import this before any module of voxmux.
 */

type Functions = Record<string, (...values: never[]) => unknown>

/**
 * Simulated paths and descriptors; everything else of a test's process is real. The root is in each of them. A function,
 * because the imports above already ask for it.
 */
function isSimulated(path: unknown): boolean {
  return typeof path === 'string' ? /^\/+(\.?$|(sim|proc)(\/|$))/.test(path) : Number(path) > 1000
}

/** Functions that ask the running world first. */
function inWorld(actual: object, make: (world: World) => object, isOurs: (value: unknown) => boolean): object {
  const made = new WeakMap<World, Functions>()
  const replaced = (name: string, real: unknown) =>
    typeof real !== 'function' || /^[A-Z]/.test(name)
      ? real
      : (...values: never[]) => {
          const world = currentWorld()
          if (!world || !isOurs(values[0])) return real(...values)
          const known = made.get(world) ?? (make(world) as Functions)
          made.set(world, known)
          const simulated = known[name]
          if (!simulated) throw new Error(`The simulation has no ${name}.`)
          return simulated(...values)
        }
  const entries = Object.entries(actual).map(([name, real]) => [name, replaced(name, real)])
  return Object.fromEntries(entries)
}

vi.mock('node:fs/promises', async (actual) => {
  const functions = inWorld(await actual<object>(), simulatedPromises, isSimulated)
  return { ...functions, default: functions }
})

vi.mock('node:fs', async (actual) => {
  const functions = inWorld(await actual<object>(), simulatedSync, isSimulated)
  return { ...functions, default: functions }
})

vi.mock('node:timers/promises', async (actual) => {
  const real = await actual<typeof import('node:timers/promises')>()
  const delay = (ms: number, value: unknown, options: { readonly signal?: AbortSignal } = {}) => {
    if (!currentWorld()?.current) return real.setTimeout(ms, value, options)
    const { signal } = options
    return new Promise((resolve, reject) => {
      const aborted = () => reject(Object.assign(new Error('Aborted'), { name: 'AbortError', code: 'ABORT_ERR' }))
      if (signal?.aborted) return aborted()
      const stop = () => {
        clearTimeout(timer)
        aborted()
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop)
        resolve(value)
      }, ms)
      signal?.addEventListener('abort', stop, { once: true })
    })
  }
  return { ...real, setTimeout: delay, default: { ...real, setTimeout: delay } }
})

vi.mock('node:crypto', async (actual) => {
  const real = await actual<typeof import('node:crypto')>()
  const randomBytes = (count: number) => currentWorld()?.names.bytes(count) ?? real.randomBytes(count)
  const randomUUID = () => {
    const world = currentWorld()
    if (!world) return real.randomUUID()
    return world.names
      .bytes(16)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }
  return { ...real, randomBytes, randomUUID, default: { ...real, randomBytes, randomUUID } }
})

vi.mock('node:child_process', async (actual) => {
  const real = await actual<typeof import('node:child_process')>()
  const spawn = (program: string, ...rest: never[]) => {
    if (currentWorld()) throw new Error(`The simulation starts no ${program}: simulate the function that wants it.`)
    return real.spawn(program, ...rest)
  }
  return { ...real, spawn, default: { ...real, spawn } }
})

vi.mock('libsql', async (actual) => {
  const { default: real } = await actual<{ default: never }>()
  return { default: simulatedLibsql(real) }
})

vi.mock('../../../src/client/transport.js', () => ({
  createTransport: () => {
    const world = currentWorld()
    if (!world) throw new Error('The simulated transport needs a simulated world.')
    return simulatedTransport(world, serviceOf(world), networkOf(world))
  },
}))

vi.mock('../../../src/media/index.js', async (actual) => {
  const real = await actual<object>()
  return { ...real, ...inWorld(pickSimulated(real), simulatedMedia, () => true) }
})

/** Those functions of the media room that the simulation does itself; the pure ones stay. */
function pickSimulated(real: object): object {
  const names = new Set(Object.keys(simulatedMedia(null as never)))
  return Object.fromEntries(Object.entries(real).filter(([name]) => names.has(name)))
}
