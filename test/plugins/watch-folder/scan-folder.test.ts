import { chmod, mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scanFolder } from '../../../plugins/watch-folder/candidates/scan-folder.js'
import { folderOfEachTest } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfEachTest()

async function put(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(folder.file(path)), { recursive: true })
    await writeFile(folder.file(path), path)
  }
}

async function scan(closed: readonly string[] = []) {
  const found: string[] = []
  const passedOver: string[] = []
  const options = {
    closed: new Set(closed.map(folder.file)),
    takes: (path: string) => !path.endsWith('.txt'),
    onPassedOver: (path: string, why: string) => passedOver.push(`${why}: ${path}`),
  }
  for await (const { path, facts } of scanFolder(folder.path, options)) {
    expect(facts.sizeBytes).toBe(Buffer.byteLength(path))
    found.push(path)
  }
  return { found: found.sort(), passedOver: passedOver.sort() }
}

describe('scanFolder', () => {
  it('finds files in folders below, and enters none that is closed, hidden or the system’s', async () => {
    await put('a.mov', 'b/c.mov', 'b/d/e.mov', 'notes.txt')
    await put('out/a.mov', 'b/out/x.mov', '.hidden/y.mov', '#recycle/z.mov', 'lost+found/z.mov', '@eaDir/z.mov')
    expect((await scan(['out'])).found).toEqual(['a.mov', 'b/c.mov', 'b/d/e.mov', 'b/out/x.mov'])
  })

  it('takes names as they are: of 255 bytes, with spaces, newlines, emoji, dashes, and both forms of é', async () => {
    const names = [
      ...[`${'x'.repeat(251)}.mov`, `${'🎬'.repeat(62)}abc.mov`, ' lead and trail .mov', 'line\nbreak.mov', '-rf.mov'],
      ...['caf\u00e9.mov', 'cafe\u0301.mov', '%s%n$(id)`id`.mov', '\\back.mov', '"quo\'te.mov'],
    ]
    await put(...names)
    expect((await scan()).found).toEqual([...names].sort())
  })

  it('passes over names that are not UTF-8, of files and of folders', async () => {
    await put('good.mov')
    const raw = (name: string) => Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from(name, 'latin1')])
    await writeFile(raw('caf\xe9.mov'), '')
    await mkdir(raw('\xe9t\xe9'))
    expect(await scan()).toEqual({ found: ['good.mov'], passedOver: ['name: caf\ufffd.mov', 'name: \ufffdt\ufffd'] })
  })

  it('follows no link: neither a loop, nor out of the root, nor to a file that is there anyway', async () => {
    await put('in/a.mov', 'outside.mov')
    await symlink('..', folder.file('in/loop'))
    await symlink('loop.mov', folder.file('in/loop.mov'))
    await symlink('../outside.mov', folder.file('in/out.mov'))
    await symlink('a.mov', folder.file('in/b.mov'))
    expect(await scan()).toEqual({
      found: ['in/a.mov', 'outside.mov'],
      passedOver: ['link: in/b.mov', 'link: in/loop', 'link: in/loop.mov', 'link: in/out.mov'],
    })
  })

  it.skipIf(process.platform !== 'linux')(
    'says of a name that is no UTF-8 that it cannot be taken (elsewhere than on Linux there is none)',
    async () => {
      await put('a.mov', 'b.mov')
      await rename(folder.file('b.mov'), Buffer.from(join(folder.path, 'b\xe9.mov'), 'latin1'))
      expect(await scan()).toEqual({ found: ['a.mov'], passedOver: ['name: b\uFFFD.mov'] })
    },
  )

  it.skipIf(process.getuid?.() === 0)(
    'passes over a folder that is closed to us, and says so (none is closed to root)',
    async () => {
      await put('a.mov', 'closed/b.mov')
      await chmod(folder.file('closed'), 0)
      const result = await scan()
      await chmod(folder.file('closed'), 0o700)
      expect(result).toEqual({ found: ['a.mov'], passedOver: ['unreadable: closed'] })
    },
  )

  it('throws where the root is not there', async () => {
    await folder.remove()
    await expect(scan()).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('finds thousands of files without holding them all', async () => {
    await mkdir(folder.file('many'))
    const names = Array.from({ length: 3000 }, (_, index) => `many/${index}.mov`)
    await put(...names)
    expect((await scan()).found).toHaveLength(3000)
  })
})
