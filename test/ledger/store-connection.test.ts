import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openSharedLedger } from '../../src/ledger/index.js'
import { describeOnPostgres, PostgresServer } from '../helpers/system/postgres-server.js'
import { until } from '../helpers/until.js'
import { startScript } from './run-script.js'
import { request } from './store-fixture.js'
import { tempFolder } from './temp-folder.js'

async function opened(url: string) {
  const ledger = await openSharedLedger(url)
  onTestFinished(() => ledger.close())
  return ledger
}

const HAS_OPENSSL = spawnSync('openssl', ['version']).status === 0

describeOnPostgres('the way to a PostgreSQL', (server) => {
  it('leads to a farm of its own by the name of a database', async () => {
    const farms = await Promise.all([server().url, server().newDatabase()].map(opened))
    for (const [index, { jobs }] of farms.entries()) await jobs.enqueue(request(`k${index}`))
    const keys = await Promise.all(farms.map(async ({ jobs }) => (await jobs.list()).map(({ key }) => key)))
    expect(keys).toEqual([['k0'], ['k1']])
    expect((await farms[1]?.jobs.claimNext())?.job.key).toBe('k1')
    expect(await farms[1]?.jobs.claimNext()).toBeNull()
  })

  it('goes through a Unix socket, and past a server that is not there', async () => {
    const { folder, port } = server()
    expect(await (await opened(`postgres://voxmux@/voxmux?host=${folder}&port=${port}`)).jobs.counts()).toBeDefined()
    const away = await PostgresServer.start()
    await away.stop()
    const both = `postgres://voxmux@127.0.0.1:${away.port},127.0.0.1:${port}/voxmux`
    expect(await (await opened(both)).jobs.counts()).toBeDefined()
  })

  it('takes at most four connections for a process', async () => {
    const url = server().newDatabase()
    const { jobs, news } = await opened(url)
    await Promise.all([jobs.watch(() => {}), news?.listen(() => {})])
    await Promise.all(Array.from({ length: 30 }, (_, n) => jobs.enqueue(request(`k${n}`))))
    const count = `SELECT count(*) FROM pg_stat_activity WHERE datname = '${url.split('/').at(-1)}'`
    expect(server().query(count, 'postgres')).toEqual(['4'])
  })

  it('leaves nothing behind that keeps a program from its end', async () => {
    const { line } = startScript(`
      import { openSharedLedger } from 'src/ledger/shared/open-shared-database.js'
      const { close } = await openSharedLedger('${server().newDatabase()}')
      await close()
      console.log(JSON.stringify(process.getActiveResourcesInfo().filter((name) => name === 'Timeout')))
    `)
    expect(await line()).toEqual([])
  })

  it('ends at once if the database, the role or TLS does not exist', async () => {
    const ends = (url: string) => expect(opened(url)).rejects
    await ends(server().urlOf('nowhere')).toMatchObject({ code: 'ERR_STORE_ADDRESS', exitCode: 2 })
    await ends(server().urlOf('voxmux', 'stranger')).toMatchObject({ code: 'ERR_STORE_REFUSED', exitCode: 2 })
    await ends(`${server().url}?sslmode=require`).toMatchObject({
      ...{ code: 'ERR_STORE_ADDRESS', exitCode: 2 },
      message: expect.stringContaining('does not use TLS'),
    })
  })

  it('names the right that its user lacks', async () => {
    server().query('CREATE ROLE guest LOGIN', 'postgres')
    server().query('CREATE DATABASE lobby TEMPLATE template0', 'postgres')
    server().query('REVOKE ALL ON SCHEMA public FROM PUBLIC', 'lobby')
    await expect(opened(server().urlOf('lobby', 'guest'))).rejects.toMatchObject({
      ...{ code: 'ERR_STORE_REFUSED', exitCode: 2 },
      message: 'The user of the job store lacks a right: no schema has been selected to create in.',
    })
  })

  it('says that a server needs TLS, as one in the cloud does', async () => {
    const own = await PostgresServer.start()
    onTestFinished(() => own.stop())
    writeFileSync(join(own.folder, 'data', 'pg_hba.conf'), 'local all all trust\nhostssl all all all trust\n')
    own.query('SELECT pg_reload_conf()')
    const failed = () =>
      openSharedLedger(own.url).then(
        (ledger) => ledger.close(),
        (error) => error,
      )
    const error = await until(failed)
    expect(error).toMatchObject({
      ...{ code: 'ERR_STORE_REFUSED', exitCode: 2 },
      message: 'The job store accepts no connection of this user from here without TLS.',
      remedies: [expect.stringContaining('sslmode=verify-full')],
    })
  })

  const answering = async (answer: string | null) => {
    const other = createServer((socket) => {
      socket.on('error', () => {})
      if (answer !== null) socket.once('data', () => socket.end(answer))
      onTestFinished(() => void socket.destroy())
    }).listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    return `postgres://voxmux@127.0.0.1:${(other.address() as AddressInfo).port}/voxmux`
  }

  it.each([
    ['HTTP', 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'],
    ['SSH', 'SSH-2.0-OpenSSH_9.2p1\r\n'],
    ['Redis', '-ERR unknown command\r\n'],
  ])('ends at once at a server of %s', async (_, answer) => {
    const url = await answering(answer)
    const refused = { code: 'ERR_STORE_ADDRESS', exitCode: 2, message: expect.stringContaining('is not PostgreSQL') }
    for (const mode of ['disable', 'require'])
      await expect(opened(`${url}?sslmode=${mode}`)).rejects.toMatchObject(refused)
  })

  it('ends at a server that accepts connections and is silent', async () => {
    await expect(openSharedLedger(await answering(null), { patienceMs: 1 })).rejects.toMatchObject({
      ...{ code: 'ERR_STORE_UNREACHABLE', exitCode: 4, message: 'The job store does not respond: it sends no answer.' },
    })
  })

  it('takes the password of a file, and says that one is wrong', async () => {
    const file = join(tempFolder(), 'pass')
    writeFileSync(file, '*:*:voxmux:locked:s3same\n', { mode: 0o600 })
    const url = server().urlOf('voxmux', 'locked')
    expect(await (await opened(`${url}?passfile=${file}`)).jobs.counts()).toBeDefined()
    const wrong = server().urlOf('voxmux', 'locked:wrong')
    await expect(opened(wrong)).rejects.toMatchObject({ code: 'ERR_STORE_REFUSED', exitCode: 2 })
  })

  const tls = 'is encrypted, and its certificate is that of the server'
  it.skipIf(!HAS_OPENSSL)(HAS_OPENSSL ? tls : `${tls} (openssl is not installed)`, async () => {
    const folder = tempFolder()
    const [certificate, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    const subject = ['-subj', '/CN=db', '-addext', 'subjectAltName=IP:127.0.0.1']
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', certificate]
    execFileSync('openssl', [...made, ...subject], { stdio: 'ignore' })
    const own = await PostgresServer.start({ tls: { certificate, key } })
    onTestFinished(() => own.stop())
    const at = (mode: string, host = '127.0.0.1') =>
      opened(`${own.url.replace('127.0.0.1', host)}?sslmode=${mode}`).then(
        () =>
          own.query("SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'voxmux'"),
        (error) => error.code,
      )
    expect(await at('verify-full')).toBe('ERR_STORE_CERTIFICATE')
    expect(await at(`verify-full&sslrootcert=${certificate}`, 'localhost')).toBe('ERR_STORE_CERTIFICATE')
    expect(await at(`verify-full&sslrootcert=${certificate}`)).toEqual(['t'])
    expect(await at(`verify-ca&sslrootcert=${certificate}`, 'localhost')).toEqual(['t'])
    expect(await at('require')).toEqual(['t'])
  })
})
