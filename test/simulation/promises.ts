import { basename } from 'node:path'
import { rowsOf } from './outside/sqlite.js'
import { PLACES } from './places.js'
import type { Inode, Maker, SimFile } from './world/inode.js'
import { isRegenerated, readMedia } from './world/media-bytes.js'
import { paymentKey, type Service } from './world/service.js'
import type { ServiceFile } from './world/service-file.js'
import type { World } from './world/world.js'

/** A film that a person made: its picture is its own, its voice may be another's too. */
export interface Film {
  readonly picture: string
  readonly voice: string
  readonly sec: number
  /** Every path at which it ever lay. */
  readonly paths: Set<string>
}

/** True for a name under which people look for an output. */
export function isOutputPath(path: string): boolean {
  const name = basename(path)
  if (name.startsWith('.') || name.endsWith('.json')) return false
  return path.startsWith(`${PLACES.out}/`) || name.includes('.regen.')
}

/** What voxmux promises, watched at every step: each change of a name, of bytes, and each payment. */
export class Promises {
  readonly films = new Map<string, Film>()
  readonly payments = new Map<string, number>()
  /** Jobs that a person had tried again, with the model that was configured then. */
  readonly retried = new Map<string, string>()
  /** Outputs that people can see. */
  readonly #seen = new WeakSet<SimFile>()
  readonly #world: World
  readonly #service: Service

  constructor(world: World, service: Service) {
    this.#world = world
    this.#service = service
    world.tree.guard = {
      onName: (path, before, after, by) => this.#onName(path, before, after, by),
      onBytes: (file, by) => this.#onBytes(file, by),
    }
    service.onPayment = (file, voice) => this.#onPayment(file, voice)
  }

  /** What is seen after a power cut is whole, too. */
  checkOutputs(): void {
    for (const [path, file] of this.#world.tree.allFiles()) if (isOutputPath(path)) this.#checkOutput(path, file)
  }

  #onName(path: string, before: Inode | undefined, after: Inode | undefined, by: Maker): void {
    if (by === 'person') {
      if (after?.kind === 'file' && isOutputPath(path)) this.#seen.delete(after)
      return
    }
    this.#world.activity += 1
    if (before?.kind === 'file' && before.maker === 'person')
      this.#world.break('no input is changed', `${path}, a person's file, is ${after ? 'replaced' : 'removed'}`)
    if (after?.kind !== 'file' || !isOutputPath(path)) return
    this.#seen.add(after)
    this.#checkOutput(path, after)
  }

  #onBytes(file: SimFile, by: Maker): void {
    if (by === 'person') return
    this.#world.activity += 1
    if (file.maker === 'person') this.#world.break('no input is changed', "a person's file is written to")
    if (this.#seen.has(file)) this.#world.break('no output is half', 'an output is written to under its name')
  }

  #checkOutput(path: string, file: SimFile): void {
    // A share without hard links: the name is taken first, and the file moved there in the same breath.
    if (file.bytes.length === 0 && !file.disk.hasLinks) return
    const media = readMedia(file.bytes)
    if (file.maker === 'person') return
    if (media?.kind !== 'output') {
      this.#world.break('no output is half', `${path} shows ${file.bytes.length} bytes that are no whole output`)
      return
    }
    const film = this.films.get(media.picture)
    if (film && film.voice !== media.voice)
      this.#world.break('no output is a mixture', `${path} has the picture of ${film.picture} and another film's voice`)
  }

  #onPayment(file: ServiceFile, voice: string): void {
    const world = this.#world
    world.note(`the service is paid for ${voice} as ${file.id} (${file.clientFileId})`)
    const [attempt] = rowsOf<{ status: string }>(world, 'SELECT status FROM voice_attempts WHERE file_id = ?', [
      file.id,
    ])
    if (attempt?.status !== 'starting')
      world.break('no payment without a ledger entry', `${file.id} is started while the ledger says ${attempt?.status}`)
    if (rowsOf(world, "SELECT 1 FROM spending WHERE id LIKE '% ' || ?", [file.id]).length === 0)
      world.break('no payment without a ledger entry', `${file.id} is started without a reservation of its seconds`)
    if (isRegenerated(voice))
      world.break('no output is fed back in', `${file.clientFileId} is paid for, and is an output`)
    const key = paymentKey(voice, file.options)
    const payments = (this.payments.get(key) ?? 0) + 1
    this.payments.set(key, payments)
    const allowed = 1 + (this.#service.excuses.get(key) ?? 0)
    if (payments > allowed)
      world.break('nothing is paid for twice', `${voice} (${file.clientFileId}) is paid for ${payments} times`)
  }
}
