import { randomUUID } from 'node:crypto'
import { link, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, ensureStateFolder } from '../../config/index.js'
import { syncFolder } from '../../core/sync-folder.js'

const FILE = 'identity'

/**
 * The state folder's own id, created on first use. It identifies the embedded service to cache and ledger, whatever
 * port that service runs on. Processes that start at the same time agree on one id.
 */
export async function stateIdentity(stateDir: string): Promise<string> {
  const path = join(stateDir, FILE)
  const known = await readFile(path, 'utf8').catch(() => '')
  if (known.trim()) return known.trim()
  const agreed = await agreedFile(path, `${randomUUID()}\n`)
  // A different id after a power cut would make every voice a new one, to be paid for again.
  await syncFolder(stateDir)
  return agreed.toString('utf8').trim()
}

/** Identifies the configured ledger. Machines with a shared store are taken to have the same. */
export async function ledgerIdentity({ store, ledger, stateDir }: Config): Promise<string> {
  if (store !== null) return 'store'
  return ledger === null ? stateIdentity(await ensureStateFolder(stateDir)) : String((await stat(ledger)).ino)
}

/**
 * The identity with which a present output counts as made. Another state folder has another id. If both have the same
 * embedded engine, an output of the other one is as good.
 *
 * @param made identity in the receipt of that output, if it has one
 * @param own identity of the present service
 */
export function makerOf(made: string | undefined, own: string): string {
  const engineOf = (identity: string) => /^embedded:[^:]+(.*)$/.exec(identity)?.[1]
  return made !== undefined && engineOf(own) !== undefined && engineOf(made) === engineOf(own) ? made : own
}

/** Creates a private file if it does not exist. Processes that do so at the same time agree on one. @returns its bytes */
export async function agreedFile(path: string, bytes: string | Buffer): Promise<Buffer> {
  const mine = `${path}.${randomUUID()}`
  await writeFile(mine, bytes, { mode: 0o600, flush: true })
  try {
    await link(mine, path)
  } catch (error) {
    // Without hard links, the first to create the file wins.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      await writeFile(path, bytes, { flag: 'wx', mode: 0o600, flush: true }).catch(() => {})
  } finally {
    await rm(mine, { force: true })
  }
  return readFile(path)
}
