import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FaultServer } from '../helpers/fault-server.js'
import { eventsOf, runCli } from '../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'

let server: FaultServer
let shop: Workshop
beforeEach(async () => {
  server = await FaultServer.start()
  shop = openWorkshop()
})
afterEach(async () => {
  shop.remove()
  await server.close()
})

const voxmux = (...args: readonly string[]) => runCli(args, { cwd: shop.dir, env: { ...shop.env, ...server.env } })

it('an output that is given as an input is skipped with the reason, and nothing is paid again', {
  timeout: 180_000,
}, async () => {
  shop.take('speech.wav', 'a.wav')
  expect((await voxmux('run', 'a.wav')).exitCode).toBe(0)
  const before = shop.inventory()
  const own = shop.path('a.regen.wav')

  const shown = await voxmux('run', 'a.wav', 'a.regen.wav')
  expect(shown.exitCode, shown.stderr).toBe(0)
  expect(shown.stderr).toContain('a.wav: already done → a.regen.wav')
  expect(shown.stderr).toContain('a.regen.wav is already an output of voxmux. Use --force to regenerate it again.')
  expect(shown.stderr).toContain('2 files: 2 skipped')

  writeFileSync(shop.path('jobs.json'), JSON.stringify([{ input: 'a.wav' }, { input: 'a.regen.wav' }]))
  for (const command of [
    ['run', 'a.wav', 'a.regen.wav', '--json'],
    ['step', 'jobs.json', '--wait', '0'],
  ]) {
    const result = await voxmux(...command)
    expect(result.exitCode, result.stderr).toBe(0)
    const receipt = `${own}.voxmux.json`
    expect(eventsOf(result).at(-1)).toMatchObject({
      ...{ event: 'result', exitCode: 0, skipped: 2, done: 0 },
      files: [
        { input: shop.path('a.wav'), status: 'skipped', output: own, receipt },
        { input: own, status: 'skipped', output: own, receipt },
      ],
    })
  }
  expect([server.charges, shop.inventory()]).toEqual([1, expect.arrayContaining([...before])])
  expect(shop.inventory().filter((name) => name.includes('regen.regen'))).toEqual([])
})
