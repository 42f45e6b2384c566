import { execFileSync, spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { expect, it, onTestFinished } from 'vitest'
import { type Logger, silentLogger } from '../../src/core/logger.js'
import { openSharedLedger } from '../../src/ledger/index.js'
import { freePort } from '../helpers/system/free-port.js'
import { until } from '../helpers/until.js'
import { describeOnRedis, startRedis } from './redis-fixture.js'
import { startScript } from './run-script.js'
import { request } from './store-fixture.js'
import { tempFolder } from './temp-folder.js'

async function opened(url: string, logger?: Logger) {
  const ledger = await openSharedLedger(url, { ...(logger && { logger }) })
  onTestFinished(() => ledger.close())
  return ledger
}

const HAS_OPENSSL = spawnSync('openssl', ['version']).status === 0

describeOnRedis('the way to a Redis', (redis) => {
  it('leads to a farm of its own by a number or a name', async () => {
    const addresses = ['', '/1', '?farm=north', '?farm=south'].map((more) => redis().url + more)
    const farms = await Promise.all(addresses.map((address) => opened(address)))
    for (const [index, { jobs }] of farms.entries()) await jobs.enqueue(request(`k${index}`))
    const keys = await Promise.all(farms.map(async ({ jobs }) => (await jobs.list()).map(({ key }) => key)))
    expect(keys).toEqual([['k0'], ['k1'], ['k2'], ['k3']])
    expect((await farms[2]?.jobs.claimNext())?.job.key).toBe('k2')
    expect(await farms[2]?.jobs.claimNext()).toBeNull()
  })

  it('does not end in the jobs of another farm where the number is too high', async () => {
    await expect(opened(`${redis().url}/99`)).rejects.toMatchObject({
      ...{ code: 'ERR_STORE_ADDRESS', exitCode: 2 },
      message: 'The job store has no database with this number.',
    })
  })

  it('ends at once where something else answers', async () => {
    const server = createServer((_, response) => response.end('hello'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    await expect(opened(`redis://127.0.0.1:${port}`)).rejects.toMatchObject({
      ...{ code: 'ERR_STORE_ADDRESS', exitCode: 2 },
      message: expect.stringContaining('is not Redis'),
    })
  })

  it('says when Redis is away, and when it is back', async () => {
    const said: string[] = []
    const { jobs } = await opened(redis().url, { ...silentLogger, warn: (_, message) => said.push(message) })
    await redis().kill()
    await until(() => said.length > 0)
    expect(said).toEqual([expect.stringMatching(/^The job store does not respond.* Retrying\.$/)])
    await redis().start()
    await jobs.counts()
    await until(() => said.length > 1)
    expect(said.slice(1)).toEqual(['The job store responds again.'])
  })

  const tls = 'takes TLS, a user and a password, and says what is wrong with each'
  it.skipIf(!HAS_OPENSSL)(HAS_OPENSSL ? tls : `${tls} (openssl is not installed)`, async () => {
    const folder = tempFolder()
    const certificate = join(folder, 'cert.pem')
    const key = join(folder, 'key.pem')
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', certificate]
    execFileSync('openssl', [...made, ...subject], { stdio: 'ignore' })
    const tlsPort = await freePort()
    const own = await startRedis([
      ...['--tls-port', String(tlsPort), '--tls-cert-file', certificate, '--tls-key-file', key],
      ...['--tls-ca-cert-file', certificate, '--tls-auth-clients', 'no'],
    ])
    onTestFinished(() => own.stop())
    const client = new Redis(own.url)
    await client.call('ACL', 'SETUSER', 'voxmux', 'on', '>s3same', '~*', '&*', '+@all')
    client.disconnect()

    const at = (user: string) => `rediss://${user}127.0.0.1:${tlsPort}/1?farm=tls`
    await expect(opened(at('voxmux:s3same@'))).rejects.toMatchObject({
      ...{ code: 'ERR_STORE_CERTIFICATE', exitCode: 2 },
      remedies: [expect.stringContaining('NODE_EXTRA_CA_CERTS')],
    })
    // What this process trusts was settled at its start.
    const { line } = startScript(
      `
      import { openSharedLedger } from 'src/ledger/index.js'
      const ends = []
      for (const user of ['voxmux:s3same@', 'voxmux:wrong@', 'nobody:s3same@'])
        ends.push(await openSharedLedger('rediss://' + user + '127.0.0.1:${tlsPort}/1?farm=tls').then(
          async (ledger) => (await ledger.jobs.enqueue({ key: 'k', group: 'g', input: '/k' })).created,
          (error) => error.code))
      process.stdout.write(JSON.stringify(ends) + '\\n')
    `,
      { NODE_EXTRA_CA_CERTS: certificate },
    )
    expect(await line()).toEqual([true, 'ERR_STORE_REFUSED', 'ERR_STORE_REFUSED'])
  })
})
