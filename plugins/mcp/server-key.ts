import { createHmac, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { isSameSecret } from '../../src/core/same-secret.js'
import { agreedFile } from '../../src/pipeline/job/state-identity.js'

/** Signs plans, and derives the token of the HTTP address. */
export interface ServerKey {
  /** Unforgeable text for a value, 22 letters. The same value has the same text after a restart. */
  sign(value: string): string
  isSigned(value: string, text: string): boolean
}

const FILE = 'mcp-key'

/** The key in the state folder, created on first use. Servers that start at the same time agree on one. */
export async function openServerKey(stateDir: string): Promise<ServerKey> {
  const secret = await agreedFile(join(stateDir, FILE), randomBytes(32))
  const sign = (value: string) => createHmac('sha256', secret).update(value).digest('base64url').slice(0, 22)
  return { sign, isSigned: (value, text) => isSameSecret(text, sign(value)) }
}
