import './outside/replace.js'
import { writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { publish } from '../../src/pipeline/output/publish.js'
import { enterWorld } from './outside/globals.js'
import { PLACES } from './places.js'
import { cutPower } from './world/power-cut.js'
import { CALM } from './world/weather.js'
import { World } from './world/world.js'

const OUTPUT = `${PLACES.desk}/out.mov`
/** More calls of the file system than publishing makes. */
const CALLS = 30

/** Publishes a part file that nothing has synced, and cuts the power before a call. @returns what the output has then */
async function outputAfterCut(seed: number, calls: number, replace: boolean): Promise<string | undefined> {
  const world = new World(seed, { ...CALM, slowCalls: 0, hasConflicts: false, hasLinks: true })
  const leave = enterWorld(world)
  try {
    world.makeFolder(PLACES.desk, true)
    const process = world.spawn('voxmux run')
    const part = `${PLACES.desk}/.part`
    world.scheduler.after(0, process, () => {
      const published = writeFile(part, 'new bytes').then(() => {
        process.stepsLeft = calls
        return publish(part, OUTPUT, { replace })
      })
      published.catch((error) => world.break('it is published', String(error)))
    })
    await world.scheduler.step(1)
    expect(world.broken).toBeNull()
    cutPower(world.tree.local, world.tree, world.random)
    const found = world.tree.find(OUTPUT, 'open')
    return found?.kind === 'file' ? found.bytes.toString() : undefined
  } finally {
    leave()
  }
}

it.each([false, true])('an output has all its bytes whenever the power is cut (replace: %j)', async (replace) => {
  const found = new Set<string | undefined>()
  for (let calls = 1; calls <= CALLS; calls++)
    for (let seed = 1; seed <= 10; seed++) found.add(await outputAfterCut(seed, calls, replace))
  expect(found).toEqual(new Set([undefined, 'new bytes']))
})
