import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { toolVariables } from '../../helpers/loaded-tools/tool-variables.js'
import { stepBench } from './step-bench.js'

const bench = stepBench()
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** Runs a program of somebody who installed voxmux: the built package, found by its name. */
async function run(name: string, program: string) {
  await mkdir(bench.folder.file('node_modules'), { recursive: true })
  await symlink(ROOT, bench.folder.file('node_modules/voxmux')).catch(() => {})
  await writeFile(bench.folder.file(name), program)
  const { cwd, env } = bench.options
  return promisify(execFile)(process.execPath, [name], {
    cwd,
    env: { PATH: '/usr/bin:/bin', ...toolVariables(), ...env },
  })
}

const body = `scriptStep({ input: 'speech.wav' }).then(({ status, output }) => console.log(status, output))`

describe('voxmux/step in a program of its own, which ends by itself', () => {
  it('is required by CommonJS, and imported by an ES module that finds it done', async () => {
    await bench.voice(0, 'speech.wav')
    const output = bench.folder.file('speech.regen.wav')
    const required = await run('a.cjs', `const { scriptStep } = require('voxmux/step')\n${body}`)
    expect(required.stdout).toBe(`done ${output}\n`)
    const imported = await run('a.mjs', `import { scriptStep } from 'voxmux/step'\nawait ${body}`)
    expect(imported).toMatchObject({ stdout: `skipped ${output}\n`, stderr: '' })
  })

  it('starts the service that it carries where none is configured', async () => {
    await bench.voice(0, 'speech.wav')
    const alone = `for (const name of Object.keys(process.env)) {
      if (name.startsWith('VOXMUX_') && name !== 'VOXMUX_STATE_DIR') delete process.env[name]
    }`
    const { stdout } = await run('a.cjs', `${alone}\nconst { scriptStep } = require('voxmux/step')\n${body}`)
    expect(stdout).toMatch(/^done /)
    expect(bench.server.calls.token).toBe(0)
  })
})
