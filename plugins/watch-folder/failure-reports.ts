import { createHash } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type ErrorReport, makeDurableFolder, syncFolder } from 'voxmux'

/** Version of a report's shape: raised when a field changes its meaning or goes. */
const SCHEMA_VERSION = 1
const NAME_MAX_BYTES = 255
const SUFFIX = '.json'

/** What a report says, besides its version. */
export interface FailureReport {
  /** Absolute path of the source, which lies where it lay. */
  readonly source: string
  readonly status: 'failed' | 'rejected'
  readonly error: ErrorReport
  readonly job: string
  readonly preset: string
  /** ISO 8601. */
  readonly at: string
}

/**
 * The reports of a folder's failed files: `failed/<path of the source>.json`, which appears whole and goes when the
 * file succeeds.
 */
export class FailureReports {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** @param path of the source within its folder */
  pathOf(path: string): string {
    return join(this.#folder, dirname(path), reportName(basename(path)))
  }

  async write(path: string, { error, ...facts }: FailureReport): Promise<void> {
    const target = this.pathOf(path)
    await makeDurableFolder(dirname(target))
    // Of a name of its own: two daemons may report the same file.
    const part = join(dirname(target), `.voxmux-${facts.job}.report`)
    const file = await open(part, 'w')
    try {
      await file.writeFile(`${JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...facts, ...error }, null, 2)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(part, target)
    await syncFolder(dirname(target))
  }

  async remove(path: string): Promise<void> {
    await rm(this.pathOf(path), { force: true })
  }
}

/** The source's name and `.json`; a name without room for that is cut, and ends in a hash of the whole. */
function reportName(name: string): string {
  if (Buffer.byteLength(name + SUFFIX) <= NAME_MAX_BYTES) return name + SUFFIX
  const tail = `~${createHash('sha256').update(name).digest('hex').slice(0, 8)}${SUFFIX}`
  let kept = ''
  for (const character of name) {
    if (Buffer.byteLength(kept + character + tail) > NAME_MAX_BYTES) break
    kept += character
  }
  return kept + tail
}
