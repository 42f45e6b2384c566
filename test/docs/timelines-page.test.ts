import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import ts from 'typescript'
import { describe, expect } from 'vitest'
import { test } from '../client/harness.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const CUT = `TITLE: CUT
FCM: NON-DROP FRAME

001  AX       AA/V  C        00:00:01:00 00:00:02:00 01:00:00:00 01:00:01:00
* FROM CLIP NAME: interview.mp4
`

describe('plugins/timelines/README.md', () => {
  test('has a program that regenerates what a cut plays', async ({ dir }) => {
    const page = await readFile(join(root, 'plugins/timelines/README.md'), 'utf8')
    const block = /```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
    const cut = join(dir, 'cut.edl')
    await writeFile(cut, CUT)
    await copyFile(join(root, 'fixtures/interview.mp4'), join(dir, 'interview.mp4'))
    await mkdir(join(dir, 'node_modules'))
    await symlink(root, join(dir, 'node_modules/voxmux'))
    const { outputText } = ts.transpileModule(block.replace('/cuts/reel1.otio', cut), {
      compilerOptions: { target: ts.ScriptTarget.ES2022 },
    })
    const program = join(dir, 'program.mjs')
    await writeFile(program, outputText)
    const env = { PATH: process.env.PATH, VOXMUX_STATE_DIR: join(dir, 'state') }
    const { stdout } = await promisify(execFile)(process.execPath, [program], { env, cwd: dir })
    expect(stdout).toMatch(/^1 s of 25\.\d+ s\n$/)
    expect(await readFile(join(dir, 'cut.regen.edl'), 'utf8')).toBe(CUT.replace('interview.mp4', 'interview.regen.mp4'))
  }, 60_000)
})
