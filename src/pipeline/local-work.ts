import { availableParallelism } from 'node:os'
import PQueue from 'p-queue'

/** A few more than there are processors: some of them wait for the disk. */
const PLACES = availableParallelism() + 2

const places = new PQueue({ concurrency: PLACES })

/**
 * Does what loads this machine (ffmpeg, hashing) when there is a place for it, in the order asked: any number of jobs
 * may be at the service at once, but only so many are cut, measured or muxed. Never call it within itself.
 *
 * @throws what the work throws; the signal's reason where it fires
 */
export async function localWork<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  let running: Promise<T> | undefined
  const started = () => {
    running = work()
    return running
  }
  try {
    return await places.add(started, signal ? { signal } : {})
  } catch (error) {
    // An abort gives the place up at once; work under way is left to clear up after itself first.
    await running?.catch(() => {})
    throw error
  }
}
