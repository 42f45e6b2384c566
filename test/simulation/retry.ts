import { silentLogger } from '../../src/core/logger.js'
import { retryJob } from '../../src/pipeline/queue/retry-job.js'
import { PLACES } from './places.js'
import type { Promises } from './promises.js'
import { openPipeline, settingsWith } from './voxmux-process.js'
import type { World } from './world/world.js'

/** A person runs `voxmux jobs retry` for whatever has failed in the watched folder, and `forget` for what is gone. */
export function retryFailed(world: World, model: string, promises: Promises): void {
  const process = world.spawn('voxmux jobs retry')
  world.scheduler.after(0, process, () => {
    const retry = async () => {
      const pipeline = await openPipeline(silentLogger)
      const { jobs } = pipeline.context
      for (const job of await jobs.list({ statuses: ['failed', 'rejected'], group: PLACES.watched })) {
        if (!world.tree.find(job.input, 'look')) {
          // Renamed since: a retry would look for it under its old name.
          world.note(`a person forgets ${job.input}, which is not there any more`)
          await jobs.forget(job.id)
          continue
        }
        world.note(`a person retries ${job.input}, which ended with ${job.error?.code}`)
        await retryJob(jobs, job, { force: false, settings: settingsWith(model) })
        promises.retried.set(job.id, model)
      }
      await pipeline.close()
    }
    retry()
      .catch((error) => world.note(`voxmux jobs retry ends: ${error}`))
      .finally(() => {
        process.isAlive = false
        world.processes.delete(process.pid)
      })
  })
}
