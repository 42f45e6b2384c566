import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TestAuthority } from './signing-authority.js'

/**
 * An RFC 3161 authority on loopback, which answers with openssl. It redirects `/moved` to itself, fails at `/broken`,
 * and sends too much at `/large`.
 */
export async function startTimestampAuthority(folder: string, authority: TestAuthority) {
  const file = (name: string) => join(folder, name)
  const clock = authority.sign('clock', { usage: 'critical,timeStamping' })
  const policy = ['default_policy=1.2.3.4', 'digests=sha256,sha384,sha512', 'signer_digest=sha256', 'accuracy=secs:1']
  writeFileSync(file('serial'), '01\n')
  writeFileSync(file('clock.cnf'), ['[tsa]', 'default_tsa=t', '[t]', `serial=${file('serial')}`, ...policy].join('\n'))
  let asked = 0
  const server = createServer((request, response) => {
    if (request.url === '/moved') return void response.writeHead(302, { location: '/' }).end()
    if (request.url === '/broken') return void response.writeHead(500).end()
    if (request.url === '/large') return void response.end(Buffer.alloc(20_000))
    asked += 1
    const query: Buffer[] = []
    request.on('data', (chunk: Buffer) => query.push(chunk))
    request.on('end', () => {
      writeFileSync(file('query'), Buffer.concat(query))
      const files = ['-config', file('clock.cnf'), '-queryfile', file('query'), '-out', file('reply')]
      const signer = ['-signer', clock.cert, '-inkey', clock.key, '-chain', authority.trustFile]
      execFileSync('openssl', ['ts', '-reply', ...files, ...signer], { stdio: 'ignore' })
      response.setHeader('content-type', 'application/timestamp-reply').end(readFileSync(file('reply')))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    /** Number of stamps that were wanted. */
    asked: () => asked,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}
