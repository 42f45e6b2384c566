import { open } from 'node:fs/promises'

/** Flushes the bytes of a file to disk. `syncFolder` flushes its name. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
