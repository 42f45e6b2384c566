import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder that outlives a single test and is removed by whoever made it. */
export async function freshFolder() {
  const path = await mkdtemp(join(tmpdir(), 'voxmux-service-'))
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) }
}
