import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** A receipt lists every structure of its input, a sidecar may hold a picture: neither is larger. */
const MAX_BYTES = 256 * 1024 ** 2

/**
 * Reads a file that stands beside another by its name alone, so that anybody may have put it there. A pipe of that name
 * would never answer, and a device never end.
 *
 * @throws whatever the file system throws; Error for anything but a file of at most 256 MiB
 */
export async function readPlainFile(path: string): Promise<Buffer> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const found = await file.stat()
  if (!found.isFile() || found.size > MAX_BYTES) throw new Error(`${path} is not a file of at most ${MAX_BYTES} bytes`)
  return await file.readFile()
}
