import { openSeenFiles } from '../../plugins/watch-folder/intake/seen-files.js'
import { openLedger } from '../../src/ledger/index.js'
import { runByHand } from './by-hand.js'
import { DaemonMachine, SCAN_MS } from './daemon.js'
import { enterWorld } from './outside/globals.js'
import { serviceOf } from './outside/service-of.js'
import { closeDatabases } from './outside/sqlite.js'
import { People } from './people.js'
import { PLACES } from './places.js'
import { Promises } from './promises.js'
import { retryFailed } from './retry.js'
import { checkTheEnd, filmsWithout } from './the-end.js'
import { checkWaiting, hasFailed, isAtRest, untilDueMs } from './waiting.js'
import { newDisk } from './world/inode.js'
import { CALM, weatherOf } from './world/weather.js'
import { type Broken, World } from './world/world.js'

const DAYS = 30
const HOUR_MS = 3_600_000
/** The machine sleeps when nothing but looking was done for so long. */
const QUIET_MS = 1100
/** The same when all is to come to its end: long enough for a file that settles. */
const LAST_QUIET_MS = 1500
/** Longest time that the machine stays awake at a stretch. */
const AWAKE_MS = 20_000
/** How often the machine wakes up after the month, until everything that still waits has come to its end. */
const LAST_WAITS = 40
/** Sleep between two of them. */
const LAST_SLEEP_MS = 7 * HOUR_MS
/** How often a person then tries again what has failed. */
const LAST_TRIES = 4

export interface Month {
  readonly broken: Broken | null
  readonly steps: number
  readonly payments: number
  readonly films: number
}

/** Simulates the month of a seed, to its end or to the first promise that is broken. */
export async function runMonth(seed: number, trace: string[] | null = null): Promise<Month> {
  const world = new World(seed, weatherOf(seed))
  world.trace = trace
  const leave = enterWorld(world)
  try {
    const service = serviceOf(world)
    await furnish(world)
    const promises = new Promises(world, service)
    const daemon = new DaemonMachine(world)
    const people = new People(world, promises, daemon)
    await live(world, daemon, people, promises)
    if (!world.broken) await end(world, daemon, people, promises)
    const payments = [...promises.payments.values()].reduce((sum, count) => sum + count, 0)
    return { broken: world.broken, steps: world.scheduler.steps, payments, films: promises.films.size }
  } finally {
    leave()
    closeDatabases(world)
  }
}

async function furnish(world: World): Promise<void> {
  world.makeFolder(PLACES.state, true)
  world.makeFolder(PLACES.share, true)
  if (world.random.chance(0.7))
    world.tree.mount(PLACES.share, newDisk(world.tree.local.device + 1, world.weather.hasLinks))
  for (const folder of [PLACES.watched, PLACES.desk]) world.makeFolder(folder, true)
  // The ledger of an earlier month, with nothing in it.
  await (await openLedger(PLACES.ledger)).close()
  openSeenFiles(PLACES.seen).close()
}

async function live(world: World, daemon: DaemonMachine, people: People, promises: Promises): Promise<void> {
  const { random } = world
  while (world.day < DAYS && !world.broken) {
    await stayAwake(world, daemon, promises, random.chance(0.4) ? random.between(0, 8000) : AWAKE_MS)
    checkWaiting(world)
    people.act()
    if (random.chance(0.8)) world.suspend(random.between(0, 200) * HOUR_MS)
  }
}

/** All is mended, and whatever has failed is tried once more: then nothing may be left to do. */
async function end(world: World, daemon: DaemonMachine, people: People, promises: Promises): Promise<void> {
  world.weather = { ...world.weather, ...CALM }
  for (const process of world.processes.values()) process.stepsLeft = Number.POSITIVE_INFINITY
  for (const disk of world.tree.disks) Object.assign(disk, { state: 'there', isFull: false })
  world.note('all is mended')
  people.drop(PLACES.watched)
  let hadFailed = false
  let hasLookedAgain = false
  for (let waits = 0, tries = 0; waits < LAST_WAITS && !world.broken; waits++) {
    if (isAtRest(world) && world.processes.size <= 1) {
      const isFailed = hasFailed(world) || filmsWithout(world, [PLACES.desk]).length > 0
      if (tries === LAST_TRIES || (tries > 0 && !isFailed && !hadFailed)) {
        // The last job may have replaced the output of a film with another name, which the next scan takes.
        if (hasLookedAgain) break
        hasLookedAgain = true
      } else {
        // What a person makes the ledger forget, the daemon takes anew when it begins.
        hadFailed = isFailed
        tries += 1
        retryFailed(world, daemon.model, promises)
        runByHand(world, daemon.model)
        daemon.stop()
      }
    }
    if (hasLookedAgain) await stayAwake(world, daemon, promises, AWAKE_MS + SCAN_MS, LAST_QUIET_MS + SCAN_MS)
    else await stayAwake(world, daemon, promises, AWAKE_MS, LAST_QUIET_MS)
    checkWaiting(world)
    world.suspend(Math.max(LAST_SLEEP_MS, untilDueMs(world)))
  }
  if (!world.broken) checkTheEnd(world, promises)
}

/** Lets things happen until nothing does, or for so long. */
async function stayAwake(
  world: World,
  daemon: DaemonMachine,
  promises: Promises,
  mostMs: number,
  quietMs = QUIET_MS,
): Promise<void> {
  const { scheduler } = world
  const untilMs = scheduler.uptimeMs + mostMs
  let activity = world.activity
  let sinceMs = scheduler.uptimeMs
  while (scheduler.uptimeMs < untilMs && !world.broken) {
    if (!daemon.process?.isAlive) {
      daemon.revive()
      promises.checkOutputs()
      sinceMs = scheduler.uptimeMs + 5000
    }
    await scheduler.step(Math.min(untilMs, sinceMs + quietMs))
    if (world.activity !== activity) {
      activity = world.activity
      sinceMs = Math.max(sinceMs, scheduler.uptimeMs)
    } else if (scheduler.uptimeMs >= sinceMs + quietMs) return
  }
}
