import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { stepBench } from './step-bench.js'

const bench = stepBench()
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** Runs a program of somebody who installed voxmux: the built package, found by its name. */
async function run(name: string, program: string) {
  await mkdir(bench.folder.file('node_modules'))
  await symlink(ROOT, bench.folder.file('node_modules/voxmux'))
  await writeFile(bench.folder.file(name), program)
  const { cwd, env } = bench.options
  return promisify(execFile)(process.execPath, [name], { cwd, env: { PATH: '/usr/bin:/bin', ...env } })
}

const body = `scriptStep({ input: 'speech.wav' }).then(({ status, output }) => console.log(status, output))`

describe('voxmux/step in a program of its own, which ends by itself', () => {
  it('is required by CommonJS', async () => {
    await bench.take('speech.wav')
    const { stdout } = await run('a.cjs', `const { scriptStep } = require('voxmux/step')\n${body}`)
    expect(stdout).toBe(`done ${bench.folder.file('speech.regen.wav')}\n`)
  })

  it('is imported by an ES module', async () => {
    await bench.take('speech.wav')
    const { stdout, stderr } = await run('a.mjs', `import { scriptStep } from 'voxmux/step'\nawait ${body}`)
    expect(stdout).toBe(`done ${bench.folder.file('speech.regen.wav')}\n`)
    expect(stderr).toBe('')
  })

  it('starts the service that it carries where none is configured', async () => {
    await bench.take('speech.wav')
    const alone = `for (const name of Object.keys(process.env)) {
      if (name.startsWith('VOXMUX_') && name !== 'VOXMUX_STATE_DIR') delete process.env[name]
    }`
    const { stdout } = await run('a.cjs', `${alone}\nconst { scriptStep } = require('voxmux/step')\n${body}`)
    expect(stdout).toMatch(/^done /)
    expect(bench.server.calls.token).toBe(0)
  })
})
