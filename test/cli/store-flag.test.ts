import { expect, it, onTestFinished } from 'vitest'
import { runCliInProcess } from '../helpers/command-in-process.js'
import { openWorkshop } from '../helpers/workshop.js'

async function listed(args: readonly string[], env: Record<string, string> = {}) {
  const workshop = openWorkshop()
  onTestFinished(() => workshop.remove())
  const options = { cwd: workshop.dir, env: { ...workshop.env, ...env } }
  const { exitCode, stdout, stderr } = await runCliInProcess(['jobs', 'list', ...args, '--json'], options)
  return { exitCode, said: stdout + stderr, error: JSON.parse(stdout.trim().split('\n').at(-1) ?? '').error }
}

it.each([
  ['mysql://jobs.example', 'ERR_CONFIG_VALUE', 'must be a postgres:// address'],
  ['postgres://me:hunter2@jobs.example/voxmux', 'ERR_STORE_PASSWORD_SHOWN', 'can be read by every user'],
  ['postgres://me:hunter2@one:1,two:2/voxmux', 'ERR_STORE_PASSWORD_SHOWN', 'can be read by every user'],
  ['postgres://jobs.example?password=hunter2', 'ERR_STORE_PASSWORD_SHOWN', 'can be read by every user'],
])('ends with 2 for --store %s', async (store, code, message) => {
  const { exitCode, said, error } = await listed(['--store', store])
  expect({ exitCode, error }).toMatchObject({ exitCode: 2, error: { code, message: expect.stringContaining(message) } })
  expect(said).not.toContain('hunter2')
})

it('ends with 2 for another address in the environment', async () => {
  const { exitCode, said } = await listed([], { VOXMUX_STORE: 'redis://:hunter2@jobs.example' })
  expect([exitCode, said]).toEqual([2, expect.stringContaining('must be a postgres:// address')])
  expect(said).not.toContain('hunter2')
})
