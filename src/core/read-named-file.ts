import { createReadStream } from 'node:fs'

const MOST_MEGABYTES = 64

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
    if (sizeBytes > MOST_MEGABYTES * 1024 ** 2) throw new Error(`it is larger than ${MOST_MEGABYTES} MB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
