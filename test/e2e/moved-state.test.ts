import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { FaultServer } from '../helpers/fault-server.js'
import { tinyWave } from '../helpers/sound/tiny-wave.js'
import { runCli } from '../helpers/voxmux-cli.js'
import { openWorkshop } from '../helpers/workshop.js'

// The command starts twice, on a machine that has other tests to run.
it('a state folder that was packed and unpacked elsewhere, as docs/operating.md says, knows its files and its jobs', {
  timeout: 180_000,
}, async () => {
  const server = await FaultServer.start()
  const workshop = openWorkshop()
  onTestFinished(async () => {
    workshop.remove()
    await server.close()
  })
  const state = String(workshop.env.VOXMUX_STATE_DIR)
  const watch = async (stateDir: string) => {
    const env = { ...workshop.env, ...server.env, VOXMUX_STATE_DIR: stateDir }
    const args = ['watch', 'in', '--once', '--settle', '0.3', '--scan', '0.3', '--json']
    const { exitCode, stdout, stderr } = await runCli(args, { cwd: workshop.dir, env })
    expect(exitCode, stderr).toBe(0)
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  }
  mkdirSync(workshop.path('in'))
  writeFileSync(workshop.path('in/a.wav'), tinyWave(1))
  expect(await watch(state)).toMatchObject({ done: 1 })

  const pack = ['--exclude=state/cache', '--exclude=state/dashboard', '-czf', workshop.path('state.tar.gz')]
  execFileSync('tar', ['-C', dirname(state), ...pack, basename(state)])
  rmSync(state, { recursive: true })
  const elsewhere = join(dirname(state), 'elsewhere')
  mkdirSync(elsewhere)
  execFileSync('tar', ['-C', elsewhere, '-xzf', workshop.path('state.tar.gz')])
  // A known content under a new name is no new file.
  renameSync(workshop.path('in/a.wav'), workshop.path('in/b.wav'))
  writeFileSync(workshop.path('in/c.wav'), tinyWave(2))
  const result = await watch(join(elsewhere, 'state'))
  expect(result.files).toMatchObject([{ input: workshop.path('in/c.wav'), status: 'done' }])
  expect(server.charges).toBe(2)
})
