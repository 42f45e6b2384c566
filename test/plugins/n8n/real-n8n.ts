import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { FaultyService } from '../../helpers/system/faulty-service.js'
import { freePort } from '../../helpers/system/free-port.js'
import { peakMemory } from '../../helpers/system/peak-memory.js'

/** The folder of the package `n8n`, which is too large (2 GB) for CI; VOXMUX_N8N_NODE is the Node that it needs. */
export const N8N = process.env.VOXMUX_N8N

const PACKAGE = fileURLToPath(new URL('../../../plugins/n8n', import.meta.url))

/** Fields of our node in the workflow. */
export interface VoxmuxNode {
  readonly parameters: object
  readonly retryOnFail?: boolean
  readonly maxTries?: number
  readonly waitBetweenTries?: number
  readonly onError?: 'continueRegularOutput'
}

/** The credential of a service, as n8n imports it. */
export function credentialOf({ options }: FaultyService) {
  const data = { ...options, model: 'regen_v1', blockTypeHeader: 'x-ms-blob-type' }
  return { id: 'credential000001', name: 'Voxmux', type: 'voxmuxApi', data }
}

/** An n8n of its own, with the published files of our package where n8n installs community nodes. */
export class RealN8n {
  readonly #folder: string
  readonly #env: NodeJS.ProcessEnv
  #number = 0

  private constructor(folder: string) {
    this.#folder = folder
    this.#env = {
      PATH: process.env.PATH,
      HOME: folder,
      N8N_USER_FOLDER: folder,
      N8N_ENCRYPTION_KEY: 'a key for tests',
      N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem',
      N8N_RESTRICT_FILE_ACCESS_TO: folder,
      N8N_DIAGNOSTICS_ENABLED: 'false',
      N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
      N8N_TEMPLATES_ENABLED: 'false',
    }
  }

  static async install(folder: string, service: FaultyService): Promise<RealN8n> {
    const installed = join(folder, '.n8n/nodes/node_modules/n8n-nodes-voxmux')
    await mkdir(installed, { recursive: true })
    for (const name of ['package.json', 'dist'])
      await cp(join(PACKAGE, name), join(installed, name), { recursive: true })
    const n8n = new RealN8n(folder)
    await n8n.#import('credentials', [credentialOf(service)])
    return n8n
  }

  /** Reads the files of `from` (a glob), runs our node on them, and writes the outputs into a folder. */
  async run(
    from: string,
    node: VoxmuxNode,
    to: string,
  ): Promise<{ readonly peakBytes: number; readonly said: string }> {
    const id = `workflow${String(++this.#number).padStart(8, '0')}`
    const file = { type: 'n8n-nodes-base.readWriteFile', typeVersion: 1 }
    const nodes = [
      { name: 'start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} },
      { name: 'read', ...file, parameters: { operation: 'read', fileSelector: from, options: {} } },
      {
        ...{ name: 'voxmux', type: 'n8n-nodes-voxmux.voxmux', typeVersion: 1, ...node },
        credentials: { voxmuxApi: { id: 'credential000001', name: 'Voxmux' } },
      },
      {
        ...{ name: 'write', ...file, onError: 'continueRegularOutput' },
        parameters: { operation: 'write', fileName: `=${to}/{{ $binary.data.fileName }}`, options: {} },
      },
    ].map((each, index) => ({ ...each, id: each.name, position: [index * 200, 0] }))
    const wire = (name: string) => ({ main: [[{ node: name, type: 'main', index: 0 }]] })
    const connections = { start: wire('read'), read: wire('voxmux'), voxmux: wire('write') }
    await this.#import('workflow', [{ id, name: id, nodes, connections, settings: {}, active: false }])
    return this.#cli('execute', `--id=${id}`)
  }

  /** Starts the server of this n8n on loopback, with an owner. @returns posts to its REST interface as that owner */
  async serve(): Promise<(path: string, body: object) => Promise<Readonly<Record<string, unknown>>>> {
    const [port, brokerPort] = [await freePort(), await freePort()]
    const { child, said } = this.#start(['start'], {
      ...{ N8N_PORT: String(port), N8N_RUNNERS_BROKER_PORT: String(brokerPort) },
      ...{ N8N_LISTEN_ADDRESS: '127.0.0.1', N8N_SECURE_COOKIE: 'false' },
    })
    onTestFinished(async () => {
      child.kill()
      if (child.exitCode === null) await once(child, 'exit')
    })
    let cookie = ''
    const post = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json', cookie }
      const answer = await fetch(`http://127.0.0.1:${port}/rest/${path}`, {
        ...{ method: 'POST', headers, body: JSON.stringify(body) },
      })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      cookie ||= answer.headers.get('set-cookie')?.split(';')[0] ?? ''
      return ((await answer.json()) as { readonly data: Readonly<Record<string, unknown>> }).data
    }
    const owner = { email: 'owner@example.com', firstName: 'An', lastName: 'Owner', password: 'Long-enough-1' }
    // Until n8n is ready, it refuses connections, or answers with 404 or 503.
    for (;;) {
      if (child.exitCode !== null) throw new Error(`n8n ended: ${said()}`)
      if (await post('owner/setup', owner).catch(() => null)) return post
      await delay(500)
    }
  }

  async #import(kind: 'credentials' | 'workflow', content: readonly object[]): Promise<void> {
    const path = join(this.#folder, `${kind}.json`)
    await writeFile(path, JSON.stringify(content))
    await this.#cli(`import:${kind}`, `--input=${path}`)
  }

  async #cli(...args: readonly string[]): Promise<{ readonly peakBytes: number; readonly said: string }> {
    const { child, said } = this.#start(args)
    let peakBytes = 0
    const timer = setInterval(async () => {
      peakBytes = Math.max(peakBytes, await peakMemory(child))
    }, 100)
    const [code] = await once(child, 'close')
    clearInterval(timer)
    if (code !== 0) throw new Error(`n8n ${args.join(' ')} ended with ${code}: ${said()}`)
    return { peakBytes, said: said() }
  }

  #start(args: readonly string[], env: NodeJS.ProcessEnv = {}): { readonly child: ChildProcess; said(): string } {
    const child = spawn(process.env.VOXMUX_N8N_NODE ?? process.execPath, [join(N8N ?? '', 'bin/n8n'), ...args], {
      env: { ...this.#env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const channel of [child.stdout, child.stderr])
      channel.on('data', (text) => {
        said += text
      })
    return { child, said: () => said }
  }
}
