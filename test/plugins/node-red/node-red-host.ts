import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { FaultyService } from '../../helpers/system/faulty-service.js'
import { freePort } from '../../helpers/system/free-port.js'

/** The folder of the package `node-red`; CI installs it outside the dependencies, as a person has it. */
export const NODE_RED = process.env.VOXMUX_NODE_RED
if (!NODE_RED) process.stderr.write('A real Node-RED is not tested: VOXMUX_NODE_RED does not name its folder.\n')

const PACKAGE = fileURLToPath(new URL('../../../plugins/node-red', import.meta.url))

/** A running Node-RED with our package and one flow, which runs what is posted to it. */
export interface NodeRed {
  readonly process: ChildProcess
  /** Posts a payload to the flow: a path as text, or bytes. The `output` of the message stands in the query. */
  run(payload: string | Buffer, query?: Readonly<Record<string, string>>): Promise<Response>
  /** Posts to the administration. */
  admin(path: string, body: object): Promise<Response>
}

/** Starts Node-RED in an empty folder, with the files of our package that are published, and deploys the flow. */
export async function startNodeRed(folder: string, service: FaultyService): Promise<NodeRed> {
  const installed = join(folder, 'node_modules/@voxmux/node-red-voxmux')
  await mkdir(installed, { recursive: true })
  for (const name of ['package.json', 'dist']) await cp(join(PACKAGE, name), join(installed, name), { recursive: true })
  const settings = { flowFile: 'flows.json', logging: { console: { level: 'warn' } }, apiMaxLength: '50mb' }
  await writeFile(join(folder, 'settings.js'), `module.exports = ${JSON.stringify(settings)}`)
  const port = await freePort()
  const args = [join(NODE_RED ?? '', 'red.js'), '--userDir', folder, '--port', String(port)]
  // The Node of the test, or the one that a newer Node-RED needs.
  const child = spawn(process.env.VOXMUX_NODE_RED_NODE ?? process.execPath, args, {
    env: { PATH: process.env.PATH, HOME: folder, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const channel of [child.stdout, child.stderr])
    channel.on('data', (text) => {
      said += text
    })
  onTestFinished(async () => {
    child.kill()
    if (child.exitCode === null) await once(child, 'exit')
  })
  const address = `http://127.0.0.1:${port}`
  const admin = (path: string, body: object) =>
    fetch(`${address}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'node-red-deployment-type': 'full' },
      body: JSON.stringify(body),
    })
  // A flow that is deployed before its nodes are loaded loses its credentials.
  for (let loaded = ''; !loaded.includes('voxmux-service'); await delay(100)) {
    if (child.exitCode !== null) throw new Error(`Node-RED ended: ${said}`)
    const nodes = fetch(`${address}/nodes`, { headers: { accept: 'application/json' } })
    loaded = await nodes.then((answer) => answer.text()).catch(() => '')
  }
  const deployed = await admin('flows', flow(service))
  if (deployed.status !== 204) throw new Error(`The flow was refused: ${await deployed.text()}`)
  return {
    process: child,
    admin,
    async run(payload, query = {}) {
      const isText = typeof payload === 'string'
      const type = isText ? 'text/plain' : 'application/octet-stream'
      const url = `${address}/run?${new URLSearchParams(query)}`
      const send = () => fetch(url, { method: 'POST', headers: { 'content-type': type }, body: payload })
      // The flow is started a moment after it is deployed.
      for (;;) {
        const answer = await send()
        if (answer.status !== 404) return answer
        await delay(50)
      }
    },
  }
}

/** `http in` → our node → `http response`, and a `catch` that answers with the error and the file id. */
function flow(service: FaultyService): readonly object[] {
  const { clientId, clientSecret, ...config } = service.options
  const at = { z: 'tab', x: 0, y: 0 }
  const make = (id: string, type: string, fields: object, ...wires: string[]) => ({
    id,
    type,
    ...at,
    ...fields,
    wires: [wires],
  })
  const unpack = `Object.assign(msg, msg.req.query, msg.req.query.fileId ? { voxmux: { fileId: msg.req.query.fileId, input: msg.req.query.input } } : {}); return msg`
  const report = 'msg.statusCode = 500; msg.payload = { message: msg.error.message, ...msg.voxmux }; return msg'
  return [
    { id: 'tab', type: 'tab', label: 'voxmux' },
    {
      ...{ id: 'service', type: 'voxmux-service', ...config, model: 'regen_v1', blockTypeHeader: 'x-ms-blob-type' },
      credentials: { clientId, clientSecret },
    },
    make('in', 'http in', { url: '/run', method: 'post' }, 'unpack'),
    make('unpack', 'function', { func: unpack, outputs: 1 }, 'regenerate'),
    make('regenerate', 'voxmux', { service: 'service', output: '', outputType: '', webhook: false }, 'out'),
    { id: 'catch', type: 'catch', ...at, scope: ['regenerate'], wires: [['report']] },
    make('report', 'function', { func: report, outputs: 1 }, 'out'),
    { id: 'out', type: 'http response', ...at, wires: [] },
  ]
}
