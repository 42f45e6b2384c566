import { spawn } from 'node:child_process'

const LIMIT_MS = 60_000
const MOST_BYTES = 64 * 1024

/**
 * Has a program sign bytes: from its standard input to its standard output, without a shell. It inherits the
 * environment, in which a token's PIN belongs. The program's own words are dropped, because they may hold a secret.
 *
 * @throws Error that names the program and how it ended
 */
export function runKeyCommand([program = '', ...args]: readonly string[], bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true, timeout: LIMIT_MS })
    const read: Buffer[] = []
    let length = 0
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > MOST_BYTES) child.kill()
      else read.push(chunk)
    })
    child.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(new Error(`${program} cannot be started (${code})`)),
    )
    child.once('close', (code, killed) => {
      if (code === 0) resolve(Buffer.concat(read))
      else reject(new Error(`${program} ended with ${killed ?? `exit code ${code}`}`))
    })
    // A program that ends early is judged by its exit code.
    child.stdin.on('error', () => {})
    child.stdin.end(bytes)
  })
}
