import { symlinkSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { commandInProcess } from '../helpers/command-in-process.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'

let shop: Workshop
beforeAll(() => {
  shop = openWorkshop()
})
afterAll(() => shop.remove())

const voxmux = (...args: readonly string[]) => commandInProcess(args, { cwd: shop.dir, env: shop.env })

it('says how to name a file that begins with a hyphen', async () => {
  for (const name of ['-dash.wav', '--double.wav']) {
    shop.takeVoice(name)
    for (const words of [[name], ['check', 'other.wav', name]]) {
      const { code, stderr } = await voxmux(...words)
      expect([code, stderr]).toEqual([
        2,
        `voxmux: The file ${name} begins with a hyphen, so its name is read as a flag.\n  → Write ./ before the name: ./${name}\n`,
      ])
    }
    expect((await voxmux('check', `./${name}`)).code).toBe(0)
    expect((await voxmux('check', '--', name)).code).toBe(0)
  }
  expect((await voxmux('run', '-x.wav')).stderr).toContain('voxmux: Which file?')
})

it('says of another kind of address that only https is opened', async () => {
  const { stderr } = await voxmux('run', 's3://rushes/a.mov', 'file:///media/a.mov', '--progress', 'none')
  expect(stderr.match(/→ Name a path or an https address\./g)).toHaveLength(2)
})

it('tells a link without a target from a name that does not exist', async () => {
  symlinkSync('moved-away.wav', shop.path('broken.wav'))
  symlinkSync('loop.wav', shop.path('loop.wav'))
  const { code, stderr } = await voxmux('run', 'broken.wav', 'loop.wav', 'absent.wav', '--progress', 'none')
  expect(code).toBe(2)
  expect(stderr).toContain('broken.wav failed: it is a link to moved-away.wav, which does not exist.')
  expect(stderr).toContain('loop.wav failed: it is a link that leads back to itself.')
  expect(stderr).toContain('→ Correct the link, or name the file itself.')
  expect(stderr).toContain('absent.wav failed: it does not exist.')
})
