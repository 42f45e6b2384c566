import { spawnSync } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../src/media/ffmpeg/temporary-folder.js'

it('removes what a killed process left, and its own at the end', async () => {
  const prefix = `voxmux-left-${process.pid}-`
  const left = join(tmpdir(), `${prefix}${hostname()}-${spawnSync('true').pid}-abcdef`)
  await mkdir(left)
  await writeFile(join(left, 'donor'), '')
  const names = async () => (await readdir(tmpdir())).filter((name) => name.startsWith(prefix))
  {
    await using folder = await temporaryFolder(prefix)
    expect(await names()).toEqual([basename(folder.path)])
  }
  expect(await names()).toEqual([])
})
