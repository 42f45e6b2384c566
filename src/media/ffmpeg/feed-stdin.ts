import type { Writable } from 'node:stream'

/**
 * Writes chunks to the stdin of a child, each completely before the next one is requested. So a source can use one
 * buffer for all of them. Leaves the source when the child closes its stdin.
 *
 * @throws the error of the source
 */
export async function feedStdin(stdin: Writable, source: AsyncIterable<Buffer>): Promise<void> {
  for await (const chunk of source) if (!(await isWritten(stdin, chunk))) return
  stdin.end()
}

function isWritten(stdin: Writable, chunk: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    stdin.write(chunk, (error) => resolve(!error))
  })
}
