import { randomUUID } from 'node:crypto'
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

const FILE = 'tools.json'
/** Old entries leave first. A machine has a few tools and a few dozen settings of encoders. */
const MOST_ENTRIES = 200
/** Age of a half-written file whose writer is gone. */
const LEFT_MS = 60_000

const memorySchema = z.record(z.string(), z.unknown())

let folder: string | undefined

/** Keeps facts about the installed tools in a folder from now on. Without a folder, each process finds them again. */
export function keepToolFactsIn(path: string | undefined): void {
  folder = path
}

/**
 * Returns a fact about tools that holds until one of them changes (its size or its time). Measures it if it is not
 * known. A memory that cannot be read or written is as good as none.
 *
 * @param tools paths
 * @param about the rest of the key: everything else that the fact depends on
 * @throws whatever `measure` throws; nothing is kept then
 */
export async function toolFact<T>(
  tools: readonly string[],
  about: readonly unknown[],
  schema: z.ZodType<T>,
  measure: () => Promise<T>,
): Promise<T> {
  const kept = folder
  const key = kept === undefined ? undefined : await keyOf(tools, about)
  if (kept === undefined || key === undefined) return measure()
  const known = schema.safeParse((await readMemory(kept))[key])
  if (known.success) return known.data
  const fact = await measure()
  await writeMemory(kept, key, fact).catch(() => {})
  return fact
}

/** Undefined if a tool cannot be looked at. */
async function keyOf(tools: readonly string[], about: readonly unknown[]): Promise<string | undefined> {
  try {
    const states = await Promise.all(tools.map((path) => stat(path)))
    const files = states.map(({ size, mtimeMs, ino }, place) => [tools[place], size, mtimeMs, ino])
    // Other libraries make another tool of the same file.
    return JSON.stringify([files, process.env.LD_LIBRARY_PATH ?? null, about])
  } catch {
    return undefined
  }
}

async function readMemory(kept: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return memorySchema.parse(JSON.parse(await readFile(join(kept, FILE), 'utf8')))
  } catch {
    return {}
  }
}

/** Replaces the file as a whole. A fact that another process writes at the same moment may be lost: it is found again. */
async function writeMemory(kept: string, key: string, fact: unknown): Promise<void> {
  const { [key]: _, ...others } = await readMemory(kept)
  const entries = [...Object.entries(others).slice(1 - MOST_ENTRIES), [key, fact] as const]
  const part = join(kept, `${FILE}.${randomUUID()}`)
  try {
    await writeFile(part, JSON.stringify(Object.fromEntries(entries)), { flag: 'wx', mode: 0o600 })
    await rename(part, join(kept, FILE))
  } finally {
    await rm(part, { force: true })
  }
  await clearLeft(kept)
}

/** Removes what killed processes left. One that writes takes no minute. */
async function clearLeft(kept: string): Promise<void> {
  for (const name of await readdir(kept)) {
    const path = join(kept, name)
    if (name.startsWith(`${FILE}.`) && Date.now() - (await stat(path)).mtimeMs > LEFT_MS)
      await rm(path, { force: true })
  }
}
