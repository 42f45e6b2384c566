import { watch } from 'chokidar'

/** An editor writes a file in several steps, or a new one in its place: it counts as saved when it has lain so long. */
const SAVED_MS = 300

/**
 * Calls the listener whenever one of the files was saved from now on, also by a new file in its place.
 *
 * @returns how to end that
 */
export async function onSaved(paths: readonly string[], listener: () => void): Promise<() => void> {
  if (paths.length === 0) return () => {}
  const awaitWriteFinish = { stabilityThreshold: SAVED_MS, pollInterval: 100 }
  const watcher = watch([...paths], { ignoreInitial: true, persistent: false, awaitWriteFinish })
  watcher.on('add', listener)
  watcher.on('change', listener)
  // Out of watches, or on a share that tells nothing: a hang-up reloads as well.
  watcher.on('error', () => {})
  await new Promise<void>((ready) => watcher.once('ready', ready))
  return () => void watcher.close()
}
