import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'

interface FolderEventsOptions {
  readonly root: string
  /** Called when something happened at a path within the root. */
  readonly onHint: (path: string) => void
  /** Called once if no more events come, because the system has no watches or handles left. */
  readonly onLost: (code: string) => void
}

/**
 * The events of a tree, with one watch per folder. Events are hints, and any of them may be missing.
 *
 * Uses `fs.watch`: chokidar reads a folder again after each event, which the scans do here. While one file grows among
 * 2000, that costs most of a processor (`npm run bench folder-events`).
 */
export class FolderEvents {
  readonly #options: FolderEventsOptions
  readonly #watchers = new Map<string, FSWatcher>()
  #isLost = false

  constructor(options: FolderEventsOptions) {
    this.#options = options
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** Watches exactly these folders within the root; '' is the root itself. */
  cover(folders: ReadonlySet<string>): void {
    for (const [folder, watcher] of this.#watchers) {
      if (folders.has(folder)) continue
      watcher.close()
      this.#watchers.delete(folder)
    }
    for (const folder of folders) if (!this.#isLost && !this.#watchers.has(folder)) this.#add(folder)
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  #add(folder: string): void {
    const { root, onHint } = this.#options
    try {
      const watcher = watch(join(root, folder), { persistent: false }, (_event, name) => {
        if (name !== null) onHint(folder === '' ? name : `${folder}/${name}`)
      })
      watcher.on('error', (error) => this.#fail(folder, error))
      this.#watchers.set(folder, watcher)
    } catch (error) {
      this.#fail(folder, error)
    }
  }

  #fail(folder: string, error: unknown): void {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
    // The scan notices a folder that is gone. Any other error ends the events.
    if (this.#isLost || code === 'ENOENT' || code === 'EPERM') return
    this.#isLost = true
    this.close()
    this.#options.onLost(code)
  }
}
