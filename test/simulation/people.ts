import { basename, extname } from 'node:path'
import { runByHand } from './by-hand.js'
import type { DaemonMachine } from './daemon.js'
import { PLACES } from './places.js'
import type { Promises } from './promises.js'
import { retryFailed } from './retry.js'
import type { SimFile } from './world/inode.js'
import { readMedia, writeMedia } from './world/media-bytes.js'
import type { World } from './world/world.js'

type Deed = () => void

/** What people do to the folder, the machine and the share; all of it at any moment. */
export class People {
  readonly #world: World
  readonly #promises: Promises
  readonly #daemon: DaemonMachine
  #made = 0

  constructor(world: World, promises: Promises, daemon: DaemonMachine) {
    this.#world = world
    this.#promises = promises
    this.#daemon = daemon
  }

  /** Does something. */
  act(): void {
    const { random, weather } = this.#world
    if (!this.#isShareThere()) return
    const deeds: readonly (readonly [number, Deed])[] = [
      [30, () => this.drop(PLACES.watched)],
      [10, () => this.#dropSlowly()],
      [12, () => this.#replace()],
      [8, () => this.#rename()],
      [5, () => this.#copy()],
      [4, () => this.#remove()],
      [3, () => this.#takeOutputBack()],
      [6, () => this.drop(PLACES.desk)],
      [9, () => runByHand(this.#world, this.#daemon.model)],
      [6, () => retryFailed(this.#world, this.#daemon.model, this.#promises)],
      [3, () => this.#changePreset()],
      [5, () => this.#daemon.stop()],
      [20 * weather.clockJumps, () => this.#jumpClock()],
      [20 * weather.fullDisks, () => this.#fillDisk()],
      [20 * weather.lostShares, () => this.#loseShare()],
    ]
    let place = random.between(
      0,
      deeds.reduce((sum, [weight]) => sum + weight, 0),
    )
    for (const [weight, deed] of deeds) {
      place -= weight
      if (place >= 0) continue
      deed()
      return
    }
  }

  /** Puts a new film into a folder, whole at once. */
  drop(folder: string): string {
    const path = `${folder}/film-${++this.#made}.mp4`
    if (this.#isShareThere()) this.#put(path, this.#newFilm(path))
    return path
  }

  #dropSlowly(): void {
    const { scheduler, random, tree } = this.#world
    const path = `${PLACES.watched}/film-${++this.#made}.mp4`
    const bytes = this.#newFilm(path)
    this.#put(path, bytes.subarray(0, bytes.length >> 1))
    this.#world.note(`${basename(path)} is only half written yet`)
    scheduler.after(random.between(50, 8000), null, () => {
      const file = this.#isShareThere() && find(tree.find.bind(tree), path)
      if (file) tree.write(file, bytes, 'person', path)
    })
  }

  #newFilm(path: string): Buffer {
    const { random } = this.#world
    const known = [...this.#promises.films.values()]
    const picture = `picture-${known.length + 1}`
    const own = { voice: `voice-${known.length + 1}`, sec: 1 + random.below(4) }
    // A new picture to the same voice: exported again.
    const { voice, sec } = known.length > 0 && random.chance(0.15) ? random.pick(known) : own
    this.#promises.films.set(picture, { picture, voice, sec, paths: new Set([path]) })
    return writeMedia({ kind: 'film', picture, voice, sec }, 10 * random.below(20))
  }

  #put(path: string, bytes: Buffer): void {
    const { tree } = this.#world
    const file = tree.newFile(tree.folder(PLACES.watched, 'put').disk, 'person')
    tree.write(file, bytes, 'person', path)
    this.#world.note(`a person puts ${path.slice(PLACES.share.length + 1)} there`)
    tree.setName(path, file, 'person', 'put')
  }

  #replace(): void {
    const [path] = this.#anyFilm()
    if (path) this.#put(path, this.#newFilm(path))
  }

  #rename(): void {
    const [path, file] = this.#anyFilm()
    if (!path || !file) return
    const to = `${PLACES.watched}/renamed-${++this.#made}.mp4`
    this.#world.note(`a person renames ${basename(path)} to ${basename(to)}`)
    this.#world.tree.rename(path, to, file, 'person')
    this.#noteLies(file, to)
  }

  #copy(): void {
    const [path, file] = this.#anyFilm()
    if (!path || !file) return
    const to = `${PLACES.watched}/copy-${++this.#made}.mp4`
    this.#put(to, file.bytes)
    this.#noteLies(file, to)
  }

  #remove(): void {
    const [path] = this.#anyFilm()
    if (!path) return
    this.#world.note(`a person removes ${basename(path)}`)
    this.#world.tree.setName(path, undefined, 'person', 'remove')
  }

  /** An output, with its receipt, into the folder that is watched: it lies where `out` was before. */
  #takeOutputBack(): void {
    const { tree, random } = this.#world
    const outputs = this.#filesIn(PLACES.out).filter(([path]) => extname(path) === '.mp4')
    if (outputs.length === 0) return
    const [path, file] = random.pick(outputs)
    const receipt = find(tree.find.bind(tree), `${path}.voxmux.json`)
    if (!receipt) return
    const to = `${PLACES.watched}/taken-${++this.#made}.mp4`
    this.#put(`${to}.voxmux.json`, receipt.bytes)
    this.#put(to, file.bytes)
  }

  #changePreset(): void {
    this.#daemon.model = `model-${++this.#made}`
    this.#world.note(`a person configures the preset ${this.#daemon.model}`)
    this.#daemon.stop()
  }

  #jumpClock(): void {
    const { random } = this.#world
    const hours = random.pick([-30, -2, 2, 3, 30, 24 * 20])
    this.#world.clockOffsetMs = hours * 3_600_000
    this.#world.note(`the machine's clock is ${Math.abs(hours)} h ${hours > 0 ? 'ahead' : 'behind'}`)
  }

  #fillDisk(): void {
    const { tree, random, scheduler } = this.#world
    const disk = random.pick(tree.disks)
    disk.isFull = true
    this.#world.note('a disk is full')
    scheduler.after(random.between(100, 20_000), null, () => {
      disk.isFull = false
    })
  }

  #loseShare(): void {
    const { tree, random, scheduler } = this.#world
    const { disk } = tree.folder(PLACES.share, 'unmount')
    if (disk === tree.local) return
    disk.state = random.pick(['gone', 'EIO', 'ESTALE'] as const)
    this.#world.note(`the share is away (${disk.state})`)
    scheduler.after(random.between(100, 20_000), null, () => {
      disk.state = 'there'
    })
  }

  #isShareThere(): boolean {
    try {
      return this.#world.tree.find(PLACES.watched, 'look') !== undefined
    } catch {
      return false
    }
  }

  #anyFilm(): readonly [string?, SimFile?] {
    const films = this.#filesIn(PLACES.watched).filter(([, file]) => readMedia(file.bytes)?.kind === 'film')
    return films.length === 0 ? [] : this.#world.random.pick(films)
  }

  #filesIn(path: string): (readonly [string, SimFile])[] {
    const folder = this.#world.tree.find(path, 'look')
    if (folder?.kind !== 'folder') return []
    return [...folder.entries].flatMap(([name, inode]) =>
      inode.kind === 'file' ? [[`${path}/${name}`, inode] as const] : [],
    )
  }

  #noteLies(file: SimFile, path: string): void {
    const media = readMedia(file.bytes)
    if (media?.kind === 'film') this.#promises.films.get(media.picture)?.paths.add(path)
  }
}

function find(look: (path: string, call: string) => { kind: string } | undefined, path: string): SimFile | undefined {
  const found = look(path, 'look')
  return found?.kind === 'file' ? (found as SimFile) : undefined
}
