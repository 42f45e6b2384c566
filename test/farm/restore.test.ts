import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { openSharedLedger } from '../../src/ledger/index.js'
import { describeOnPostgres } from '../helpers/system/postgres-server.js'
import { postgresProgram } from '../helpers/system/postgres-template.js'

const page = readFileSync(fileURLToPath(new URL('../../docs/scale-out.md', import.meta.url)), 'utf8')
const command = (name: string) => new RegExp(`^${name} .*(?:\\\\\\n.*)*`, 'm').exec(page)?.[0] ?? ''

describeOnPostgres('the back-up of docs/scale-out.md', (own) => {
  it('is restored over a database, with the rights of the role alone', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'voxmux-restore-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const run = (name: string) =>
      execFileSync('sh', ['-ec', command(name)], {
        cwd: folder,
        env: { PATH: `${dirname(postgresProgram(name))}:${process.env.PATH}`, VOXMUX_STORE: own().url },
      })
    const jobs = async (change?: 'enqueue' | 'forget') => {
      const ledger = await openSharedLedger(own().url)
      if (change === 'enqueue') await ledger.jobs.enqueue({ key: 'a', group: 'g', input: '/a' })
      const list = await ledger.jobs.list({})
      if (change === 'forget') for (const { id } of list) await ledger.jobs.forget(id)
      await ledger.close()
      return list.map(({ input }) => input)
    }
    expect(await jobs('enqueue')).toEqual(['/a'])
    run('pg_dump')
    await jobs('forget')
    expect(await jobs()).toEqual([])
    run('pg_restore')
    expect(await jobs()).toEqual(['/a'])
  })
})
