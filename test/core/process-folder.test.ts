import { chmod, mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { makeProcessFolder } from '../../src/core/process-folder.js'

it('removes the folders of dead processes, but not those of another container with the same numbers', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'voxmux-parent-'))
  onTestFinished(() => rm(parent, { recursive: true }))
  const [dead, elsewhere, forgotten] = [`${hostname()}-9999999-abc`, 'other-host-9999999-abc', 'other-host-9999999-old']
  for (const name of [dead, elsewhere, forgotten, 'unrelated']) await mkdir(join(parent, name))
  const past = new Date(Date.now() - 8 * 24 * 3600 * 1000)
  await utimes(join(parent, forgotten), past, past)
  const own = [await makeProcessFolder(parent), await makeProcessFolder(parent)].map((path) => basename(path))
  expect((await readdir(parent)).sort()).toEqual([...own, elsewhere, 'unrelated'].sort())
})

it.runIf(process.platform === 'linux')(
  'keeps the folder of a container with the same name and other processes',
  async () => {
    const parent = await mkdtemp(join(tmpdir(), 'voxmux-parent-'))
    onTestFinished(() => rm(parent, { recursive: true }))
    const elsewhere = `${hostname()}-9999999-1.abc`
    await mkdir(join(parent, elsewhere))
    const own = basename(await makeProcessFolder(parent))
    await makeProcessFolder(parent)
    expect(await readdir(parent)).toEqual(expect.arrayContaining([own, elsewhere]))
  },
)

it.runIf(process.getuid?.() === 0)('needs no permission to list its parent', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'voxmux-parent-'))
  onTestFinished(() => rm(parent, { recursive: true }))
  await chmod(parent, 0o1733)
  process.seteuid?.(65534)
  onTestFinished(() => void process.seteuid?.(0))
  expect(await makeProcessFolder(parent)).toContain(parent)
})
