import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Signs plans, and derives the token of the HTTP address. */
export interface ServerKey {
  /** Unforgeable text for a value, 22 letters. The same value has the same text after a restart. */
  sign(value: string): string
  /** True if the text is that of the value. */
  isSigned(value: string, text: string): boolean
}

const FILE = 'mcp-key'

/** The key in the state folder, created on first use. Servers that start at the same time agree on one. */
export async function openServerKey(stateDir: string): Promise<ServerKey> {
  const path = join(stateDir, FILE)
  const mine = `${path}.${process.pid}`
  await writeFile(mine, randomBytes(32), { mode: 0o600, flush: true })
  try {
    await link(mine, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      await writeFile(path, await readFile(mine), { flag: 'wx', mode: 0o600 }).catch(() => {})
  } finally {
    await rm(mine, { force: true })
  }
  const secret = await readFile(path)
  const sign = (value: string) => createHmac('sha256', secret).update(value).digest('base64url').slice(0, 22)
  return {
    sign,
    isSigned: (value, text) => {
      const [wanted, given] = [Buffer.from(sign(value)), Buffer.from(text)]
      return wanted.length === given.length && timingSafeEqual(wanted, given)
    },
  }
}
