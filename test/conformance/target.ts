import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { CLI_PATH } from '../helpers/voxmux-cli.js'
import { freshFolder } from './folder.js'

/** A service under test, and how to speak to it: nothing but fetch and the interface's text. */
export interface Target {
  readonly baseUrl: string
  readonly name: string
  /** The token endpoint with some of its fields changed. */
  token(change?: Record<string, string>, tenantId?: string): Promise<Response>
  /** POST of an operation with a good token, or with the one that is given (empty: none). */
  post(operation: string, body: unknown, token?: string): Promise<Response>
  /** A small voice file. */
  voice(): Promise<Buffer>
  close(): Promise<void>
}

interface Access {
  readonly baseUrl: string
  readonly authUrl: string
  readonly tenantId: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scope: string
}

/** The service that VOXMUX_BASE_URL and its five fellows name; our own where they do not. */
export async function openTarget(env: NodeJS.ProcessEnv = process.env): Promise<Target> {
  if (!env.VOXMUX_BASE_URL) return ownTarget()
  const value = (name: string) => {
    const text = env[`VOXMUX_${name}`]
    if (!text) throw new Error(`VOXMUX_${name} is not set.`)
    return text
  }
  const access = {
    baseUrl: value('BASE_URL').replace(/\/$/, ''),
    authUrl: value('AUTH_URL').replace(/\/$/, ''),
    tenantId: value('TENANT_ID'),
    clientId: value('CLIENT_ID'),
    clientSecret: value('CLIENT_SECRET'),
    scope: value('SCOPE'),
  }
  return target(access, access.baseUrl, async () => {})
}

/** One node, with a folder of its own. */
async function ownTarget(): Promise<Target> {
  const folder = await freshFolder()
  const node = await serveProcess(['--data', folder.path])
  return {
    ...node,
    async close() {
      await node.close()
      await folder.remove()
    },
  }
}

/**
 * `voxmux serve` in a process of its own: reached by its address alone, like anybody's.
 *
 * @param key of an earlier node, where this one is not the first and tells none
 * @param added to the environment
 */
export async function serveProcess(
  flags: readonly string[],
  key: Readonly<Record<string, string>> = {},
  added: NodeJS.ProcessEnv = {},
): Promise<Target & { readonly listening: Readonly<Record<string, string>> }> {
  const command = [CLI_PATH, 'serve', '--json', ...flags]
  const child = spawn(process.execPath, command, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...added },
  })
  const line = await createInterface(child.stdout)[Symbol.asyncIterator]().next()
  const listening = { ...(JSON.parse(line.value ?? '{}') as Record<string, string>), ...key }
  const env = Object.fromEntries(
    ['base_url', 'auth_url', 'tenant_id', 'client_id', 'client_secret', 'scope'].map((name) => [
      `VOXMUX_${name.toUpperCase()}`,
      listening[name],
    ]),
  )
  return {
    ...(await openTarget(env)),
    name: 'voxmux serve',
    listening,
    async close() {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

function target(access: Access, name: string, close: () => Promise<void>): Target {
  const { baseUrl, authUrl, tenantId, clientId, clientSecret, scope } = access
  const form = { client_id: clientId, client_secret: clientSecret, grant_type: 'client_credentials', scope }
  const token: Target['token'] = (change = {}, tenant = tenantId) =>
    fetch(`${authUrl}/${tenant}/oauth2/v2.0/token`, {
      method: 'POST',
      body: new URLSearchParams({ ...form, ...change }),
    })
  let bearer: Promise<string> | undefined
  const goodToken = async () => {
    bearer ??= token().then(async (answer) => ((await answer.json()) as { access_token: string }).access_token)
    return bearer
  }
  return {
    baseUrl,
    name,
    token,
    post: async (operation, body, own) => {
      const used = own ?? (await goodToken())
      return fetch(`${baseUrl}/api/v1/${operation}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(used && { authorization: `Bearer ${used}` }) },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      })
    },
    voice: () => readFile(new URL('../../fixtures/speech.wav', import.meta.url)),
    close,
  }
}
