import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { examineLedger } from '../../src/cli/doctor/examine.js'
import { examineStore } from '../../src/cli/doctor/examine-store.js'
import type { Config } from '../../src/config/index.js'
import { openLedger, openSharedLedger, openSqliteFile } from '../../src/ledger/index.js'
import { describeOnPostgres } from '../helpers/system/postgres-server.js'
import { until } from '../helpers/until.js'

const examined = async (store: string | null) =>
  (await examineStore({ store })).map(({ check, status, detail }) => `${check} ${status}: ${detail}`)

describeOnPostgres(
  'the doctor of a shared store',
  (server) => {
    const set = (settings: Readonly<Record<string, string>>) => {
      for (const [name, value] of Object.entries(settings)) server().query(`ALTER SYSTEM SET ${name} = '${value}'`)
      server().query('SELECT pg_reload_conf()')
    }
    afterEach(() => {
      server().query('ALTER SYSTEM RESET ALL')
      server().query('SELECT pg_reload_conf()')
    })
    const found = (text: RegExp, address = server().url) =>
      until(async () => (await examined(address)).find((line) => text.test(line)))

    it('has nothing to say where there is none', async () => {
      expect(await examined(null)).toEqual([])
    })

    it('finds one in order that is set up as the documents say', async () => {
      expect(await examined(server().url)).toEqual([
        expect.stringMatching(/^store ok: PostgreSQL \d+\.\d+, .*B, 0 replicas$/),
        expect.stringMatching(/^store on disk ok/),
        expect.stringMatching(/^store connections ok: \d+ of \d+ in use$/),
      ])
    })

    it('finds what would lose jobs', async () => {
      set({ synchronous_commit: 'off' })
      await found(/^store on disk fault: A crash can lose .* because synchronous_commit is off/)
      set({ full_page_writes: 'off' })
      await found(/^store on disk fault: A power loss can destroy/)
    })

    it('finds tables that a newer voxmux has written', async () => {
      await (await openSharedLedger(server().url)).close()
      server().query('INSERT INTO voxmux.ledger_versions VALUES (9999)')
      await found(/^store version fault: The job store was written by a newer voxmux/)
      server().query('DELETE FROM voxmux.ledger_versions WHERE version = 9999')
      expect(await examined(server().url)).not.toContainEqual(expect.stringContaining('newer'))
    })

    it('finds bloat and a superuser', async () => {
      set({ autovacuum: 'off' })
      await found(/^store bloat note: autovacuum is off/)
      server().query('CREATE TABLE voxmux.bloat AS SELECT n FROM generate_series(1, 20000) AS n')
      server().query('DELETE FROM voxmux.bloat')
      await found(/^store bloat note: 20\d{3} dead rows beside \d+ live/)
      server().query('DROP TABLE voxmux.bloat')
      await found(/^store role note: .*superuser/, server().urlOf('voxmux', 'postgres'))
    })

    it('finds a role that may create no tables, and one that may not write', async () => {
      server().query('CREATE ROLE guest LOGIN', 'postgres')
      server().query('CREATE DATABASE lobby TEMPLATE template0', 'postgres')
      server().query('REVOKE ALL ON SCHEMA public FROM PUBLIC', 'lobby')
      const lobby = server().urlOf('lobby', 'guest')
      await found(/^store role fault: The store has no tables, and its user may not create them/, lobby)
      server().query('ALTER ROLE guest SET default_transaction_read_only = on', 'postgres')
      await found(/^store role fault: The user or the database is set to read-only/, lobby)
    })

    it('finds a clock of this machine that differs from that of the server', async () => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
      onTestFinished(() => void vi.useRealTimers())
      await found(/^store clock note: the clock of the server is 3[56]\d\d s behind this machine's/)
    })

    it('finds too few connections', async () => {
      set({ max_connections: '10', superuser_reserved_connections: '9' })
      await server().restart()
      await found(/^store connections note: \d of 1 in use/)
    })

    it('finds one that cannot be reached', async () => {
      await server().kill()
      const [first] = await examineStore({ store: server().url })
      await server().start()
      expect(first).toMatchObject({
        ...{ check: 'store', status: 'fault', exitCode: 4 },
        detail: expect.stringContaining('the connection was refused'),
      })
    })

    it('says what a failover would take with it', async () => {
      const replica = await server().startReplica()
      onTestFinished(() => replica.stop())
      await found(/^store copies note: .*do not have yet/)
      expect(await examined(replica.url)).toContainEqual(expect.stringMatching(/^store version fault: .*replica/))
      set({ synchronous_standby_names: '*' })
      await found(/^store copies ok: each write reaches a replica/)
      await replica.kill()
      await found(/^store copies fault: Writes wait for a replica, and none is connected/)
    })
  },
  { isDurable: true },
)

it('finds a ledger that this voxmux cannot use, and changes nothing', async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'voxmux-doctor-'))
  onTestFinished(() => rm(stateDir, { recursive: true, force: true }))
  const file = join(stateDir, 'ledger.sqlite')
  const found = async () =>
    (await examineLedger({ store: null, ledger: null, stateDir } as Config)).map(
      ({ check, status, detail }) => `${check} ${status}: ${detail}`,
    )
  expect(await found()).toEqual([])
  await (await openLedger(file)).close()
  expect(await found()).toEqual([`ledger ok: ${file}`])
  openSqliteFile(file, Array<string>(999).fill('SELECT 1')).close()
  expect(await found()).toEqual([`ledger fault: ${file} was written by a newer voxmux.`])
  await writeFile(file, 'a text that is no database, and longer than the head of one'.repeat(20))
  expect(await found()).toEqual([expect.stringMatching(/^ledger fault: .*ledger\.sqlite/)])
})
