import { createHash, randomUUID } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY_MS } from '../../core/time.js'
import { type Holder, isCertainlyDead, thisHolder } from '../leases/holder.js'

/** Age at which part files of unknown processes (such as another container on the same folder) are deleted. */
const MAX_AGE_MS = DAY_MS

const NAME = /^\.part-([0-9a-f]{8})-(\d+)-(\d*)-[0-9a-f-]+$/

/** Creates a name for a part file that identifies its process. */
export function partName(): string {
  const holder = thisHolder()
  return `.part-${hostTag(holder)}-${holder.pid}-${holder.startTicks ?? ''}-${randomUUID()}`
}

/** Deletes the part files in a folder whose process is dead. */
export async function sweepParts(folder: string): Promise<void> {
  const here = thisHolder()
  for (const name of await readdir(folder)) {
    const [, host, pid, ticks] = NAME.exec(name) ?? []
    if (host === undefined) continue
    const path = join(folder, name)
    const maker = { host: here.host, pid: Number(pid), startTicks: ticks || null }
    const dead = host === hostTag(here) ? isCertainlyDead(maker) : await isOld(path)
    if (dead) await rm(path, { force: true })
  }
}

function hostTag({ host }: Holder): string {
  return createHash('sha256').update(host).digest('hex').slice(0, 8)
}

async function isOld(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && Date.now() - found.ctimeMs > MAX_AGE_MS
}
