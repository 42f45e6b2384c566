import { type SimFolder, systemError } from '../world/inode.js'
import type { World } from '../world/world.js'
import { openFile, type SimHandle, statsOf } from './file-handle.js'

/** The functions of `node:fs` that voxmux uses, over the simulated disks and a `/proc` of the simulated processes. */
export function simulatedSync(world: World) {
  const { tree } = world
  const handles = new Map<number, SimHandle>()
  let descriptors = 1000
  return {
    existsSync: (path: string) => world.performNow('exists', () => tree.find(path, 'access') !== undefined),
    statSync: (path: string) => world.performNow('stat', () => statsOf(tree.get(path, 'stat'), false)),
    lstatSync: (path: string) => world.performNow('lstat', () => statsOf(tree.get(path, 'lstat'), false)),
    mkdirSync: (path: string, { recursive = false } = {}) =>
      world.performNow('mkdir', () => world.makeFolder(path, recursive)),
    openSync: (path: string, flags: string | number) =>
      world.performNow('open', () => {
        handles.set(++descriptors, openFile(world, path, flags))
        return descriptors
      }),
    closeSync: (descriptor: number) => void handles.delete(descriptor),
    fsyncSync: (descriptor: number) => world.performNow('fsync', () => void handles.get(descriptor)?.syncNow()),
    rmSync: (path: string) => world.performNow('rm', () => tree.setName(path, undefined, world.maker, 'rm')),
    readFileSync: (path: string) =>
      path.startsWith('/proc/') ? proc(world, path) : tree.file(path, 'open').bytes.toString('utf8'),
    readlinkSync: (path: string) => {
      throw systemError('ENOENT', 'readlink', path)
    },
    createReadStream: (path: string, { end = Number.MAX_SAFE_INTEGER } = {}) => {
      const read = () => world.perform('read', () => tree.file(path, 'open').bytes.subarray(0, end + 1))
      return {
        async *[Symbol.asyncIterator]() {
          const bytes = await read()
          if (bytes.length > 0) yield bytes
        },
        destroy: () => {},
      }
    },
    watch: (path: string, _options: unknown, listener: (event: string, name: string) => void) =>
      watchFolder(world, tree.folder(path, 'watch'), listener),
  }
}

/** Tells a process of changes in a folder, most of the time: events may be missing. */
function watchFolder(world: World, folder: SimFolder, listener: (event: string, name: string) => void) {
  const { tree, scheduler, random, weather } = world
  const owner = scheduler.current
  const told = (name: string) => {
    if (!random.chance(weather.lostEvents)) scheduler.after(1, owner, () => listener('change', name))
  }
  const listeners = tree.watchers.get(folder) ?? new Set()
  tree.watchers.set(folder, listeners.add(told))
  return { on: () => {}, close: () => listeners.delete(told) }
}

/** `/proc/<pid>/stat` tells processes apart, and the boot's id tells boots apart. */
function proc(world: World, path: string): string {
  if (path.endsWith('boot_id')) return `boot-${world.bootId}\n`
  const process = world.processes.get(Number(/^\/proc\/(\d+)\/stat$/.exec(path)?.[1]))
  if (!process) throw systemError('ENOENT', 'open', path)
  return `${process.pid} (node) S ${'0 '.repeat(18)}${process.startTicks} 0`
}
