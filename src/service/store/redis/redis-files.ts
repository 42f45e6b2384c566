import type { ScriptRunner } from '../../../ledger/index.js'
import { type FileRecord, fileNameOf } from '../file-record.js'
import {
  type Changed,
  type ClaimedFile,
  type ExpiredData,
  FILE_ID,
  type FileChange,
  type Files,
  type Notice,
  type Registration,
} from '../files.js'
import { changedFields, FRESH_FIELDS, OUTLIVED_INDEX, toFileRecord } from './file-hash.js'
import { FILE_SCRIPTS } from './file-scripts.js'
import { fieldsOf, hashesOf, hashOf, ServiceScripts } from './service-scripts.js'

/** {@link Files} on Redis: one hash per file. Scripts check its state before they change it. */
export class RedisFiles implements Files {
  readonly #scripts: ServiceScripts<keyof typeof FILE_SCRIPTS>

  constructor(runner: ScriptRunner) {
    this.#scripts = new ServiceScripts(runner, 'files', FILE_SCRIPTS)
  }

  async register(id: string, registration: Registration): Promise<FileRecord> {
    const { userId, clientFileId, sourceUrl = null, startSec = null, endSec = null } = registration
    const asked = { id, userId, clientFileId, fileName: fileNameOf(clientFileId), sourceUrl, startSec, endSec }
    const file = fileOf(await this.#scripts.run('register', [id, ...fieldsOf({ ...asked, ...FRESH_FIELDS })]))
    if (!file) throw new Error(`File ${id} vanished within a script.`)
    return file
  }

  async ofUser(userId: string, ids: readonly string[]): Promise<(FileRecord | undefined)[]> {
    // Skip texts that cannot be an id: a client may send texts of any length.
    const asked = ids.map((id) => (FILE_ID.test(id) ? id : ''))
    return ((await this.#scripts.run('ofUser', [userId, ...asked])) as unknown[]).map(fileOf)
  }

  async byId(id: string): Promise<FileRecord | undefined> {
    return fileOf(await this.#scripts.run('byId', [id]))
  }

  async known(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const known = new Set<string>()
    for (let from = 0; from < ids.length; from += BATCH)
      for (const id of (await this.#scripts.run('known', ids.slice(from, from + BATCH))) as string[]) known.add(id)
    return known
  }

  async change(id: string, change: FileChange, notices: readonly Notice[] = []): Promise<Changed> {
    const fields = changedFields(change)
    const claim = 'claim' in change ? change.claim : ''
    const percent = 'percent' in change ? change.percent : ''
    const told = notices.flatMap(({ type, status }) => [type, status])
    const values = [id, claim, percent, fields.length, ...fields, ...told]
    const [changed, flat] = (await this.#scripts.run(change.kind, values)) as [number, unknown]
    return { changed: changed === 1, file: fileOf(flat) }
  }

  async findForRetry(id: string): Promise<FileRecord | undefined> {
    return fileOf(await this.#scripts.run('findAgain', [id]))
  }

  async claim({ id, claim }: ClaimedFile): Promise<boolean> {
    return (await this.#scripts.run('takeUp', [id, claim])) === 1
  }

  async release({ id, claim }: ClaimedFile): Promise<void> {
    await this.#scripts.run('putDown', [id, claim])
  }

  async countFault({ id, claim }: ClaimedFile): Promise<number | undefined> {
    const faults = Number(await this.#scripts.run('countFault', [id, claim]))
    return faults < 0 ? undefined : faults
  }

  async charge({ id, claim }: ClaimedFile, soundMs: number): Promise<'charged' | 'short' | 'lost'> {
    const outcome = await this.#scripts.run('charge', [id, claim, soundMs])
    return outcome === 'charged' || outcome === 'short' ? outcome : 'lost'
  }

  async unqueued(): Promise<string[]> {
    return (await this.#scripts.run('unqueued')) as string[]
  }

  async markQueued(id: string): Promise<void> {
    await this.#scripts.run('markQueued', [id])
  }

  async expired(what: ExpiredData, forMs: number): Promise<FileRecord[]> {
    return hashesOf(await this.#scripts.run('outlived', [OUTLIVED_INDEX[what], forMs])).map(toFileRecord)
  }

  async forgetUnused(id: string): Promise<boolean> {
    return (await this.#scripts.run('forgetUnused', [id])) === 1
  }

  async forgetDeleted(forMs: number): Promise<void> {
    while ((await this.#scripts.run('forgetDeleted', [forMs])) === 1);
  }
}

/** Ids that one script looks up. */
const BATCH = 1000

function fileOf(flat: unknown): FileRecord | undefined {
  const hash = hashOf(flat)
  return hash && toFileRecord(hash)
}
