import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Builds a file or a folder under a hidden name beside its place. It is removed if `build` does not move it. */
export async function hiddenPart<T>(place: string, build: (part: string) => Promise<T>): Promise<T> {
  const part = join(dirname(place), `.voxmux-${randomUUID()}.part`)
  try {
    return await build(part)
  } finally {
    await rm(part, { recursive: true, force: true })
  }
}
