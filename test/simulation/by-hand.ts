import { readdir } from 'node:fs/promises'
import { silentLogger } from '../../src/core/logger.js'
import { sortableId } from '../../src/ledger/index.js'
import { runJobs } from '../../src/pipeline/job/run-jobs.js'
import { expandInputs } from '../../src/pipeline/plan/expand-inputs.js'
import { PLACES } from './places.js'
import { openPipeline, settingsWith } from './voxmux-process.js'
import type { World } from './world/world.js'

/** A person runs `voxmux run *.mp4` on the desk, in a process that may be killed. */
export function runByHand(world: World, model: string): void {
  const { scheduler, random, weather } = world
  const process = world.spawn('voxmux run')
  if (random.chance(weather.kills)) process.stepsLeft = 1 + random.below(400)
  world.note('a person runs voxmux on every file of the desk')
  scheduler.after(0, process, () => {
    run(world, model)
      .catch((error) => world.note(`voxmux run ends: ${error}`))
      .finally(() => {
        process.isAlive = false
        world.processes.delete(process.pid)
      })
  })
}

async function run(world: World, model: string): Promise<void> {
  const { desk } = PLACES
  // What the shell makes of the pattern: every name that matches, outputs of before too.
  const typed = (await readdir(desk)).filter((name) => name.endsWith('.mp4') && !name.startsWith('.'))
  const inputs = typed.length === 0 ? [] : await expandInputs(typed, desk)
  const pipeline = await openPipeline(silentLogger)
  const common = { output: undefined, cwd: desk, group: 'run', settings: settingsWith(model), remote: false }
  const requests = inputs.map((input) => ({ provisionalId: sortableId(), input, ...common }))
  const outcomes = await runJobs(requests, pipeline.context, { concurrency: 2 })
  for (const { error, event } of outcomes) if (error) world.note(`voxmux run, ${event.input}: ${error.message}`)
  await pipeline.close()
}
