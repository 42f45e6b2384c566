import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventsOf, runCli, startCli } from '../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'

let shop: Workshop
beforeAll(() => {
  shop = openWorkshop()
})
afterAll(() => shop.remove())

it('voxmux ui prints the address of its page, serves it until it is stopped, and leaves nothing behind', async () => {
  const film = shop.take('speech.wav')
  const running = startCli(['ui', 'speech.wav', '--no-open', '--json'], { cwd: shop.dir, env: shop.env })
  await running.until(/"event":"listening".*\n/)
  const [event] = eventsOf({ exitCode: null, signal: null, stderr: '', stdout: running.said().split('\n')[0] ?? '' })
  const { url } = event as unknown as { url: string }
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{43}\/$/)
  expect(await (await fetch(url)).text()).toContain('<title>voxmux</title>')
  expect(await (await fetch(`${url}api/start`)).json()).toMatchObject({ file: film, cwd: shop.dir, isFree: true })
  expect((await fetch(new URL('/api/start', url))).status).toBe(403)
  running.child.kill('SIGINT')
  expect((await running.ended).exitCode).toBe(130)
  const folder = join(shop.env.VOXMUX_STATE_DIR ?? '', 'ui')
  expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([])
})

it('voxmux ui refuses a file that is missing, and a folder, before it opens a page', async () => {
  for (const [name, code] of [
    ['absent.mov', 'ERR_INPUT_MISSING'],
    [shop.dir, 'ERR_INPUT_IS_FOLDER'],
  ] as const) {
    const { exitCode, stdout } = await runCli(['ui', name, '--no-open', '--json'], { cwd: shop.dir, env: shop.env })
    expect(exitCode).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({ error: { code } })
  }
})
