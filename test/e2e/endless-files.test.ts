import { execFileSync, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { commandInProcess } from '../helpers/command-in-process.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'

let shop: Workshop
beforeAll(() => {
  shop = openWorkshop()
})
afterAll(() => shop.remove())

const voxmux = (...args: readonly string[]) => commandInProcess(args, { cwd: shop.dir, env: shop.env })

it.skipIf(process.platform === 'win32')('reads no device to its end, which never comes', async () => {
  execFileSync('ln', ['-s', '/dev/zero', shop.path('zero.json')])
  const run = ['run', shop.take('speech.wav'), '--dry-run', '--progress', 'none']
  for (const [args, says] of [
    [[...run, '--config', 'zero.json'], 'zero.json cannot be read: it is larger than 64 MB.'],
    [[...run, '-p', './zero.json'], 'zero.json cannot be read: it is larger than 64 MB.'],
    [[...run, '--segment', 'edl:zero.json'], 'zero.json cannot be read: it is larger than 64 MB.'],
    [['step', 'zero.json'], 'zero.json cannot be read: it is larger than 64 MB.'],
    [['jobs', 'import', 'zero.json'], 'zero.json was not written by `voxmux jobs export`.'],
  ] as const) {
    const { code, stdout, stderr } = await voxmux(...args)
    expect([code, stdout + stderr], args.join(' ')).toEqual([2, expect.stringContaining(says)])
  }
})

it.skipIf(process.platform === 'win32')('reads what a program writes into a pipe', async () => {
  execFileSync('mkfifo', [shop.path('pipe.json')])
  writeFileSync(shop.path('list.json'), '{"mix": 50,}')
  spawn('cp', ['list.json', 'pipe.json'], { cwd: shop.dir })
  const { code, stderr } = await voxmux('run', shop.take('speech.wav'), '--dry-run', '--config', 'pipe.json')
  expect([code, stderr]).toEqual([2, expect.stringContaining('pipe.json is not valid JSON (line 1).')])
})
