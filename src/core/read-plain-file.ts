import { constants, createReadStream } from 'node:fs'
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

const MOST_NAMED_MEGABYTES = 64

/**
 * Reads the text of a file that a person named. It may be a pipe of the shell, such as `<(…)`, but not an endless device.
 *
 * @throws whatever the file system throws; Error for more than 64 MB
 */
export async function readNamedFile(path: string): Promise<string> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length
    if (sizeBytes > MOST_NAMED_MEGABYTES * 1024 ** 2) throw new Error(`it is larger than ${MOST_NAMED_MEGABYTES} MB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
