import { appendFileSync, existsSync, renameSync } from 'node:fs'
import { mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type FileFacts, fileFacts } from '../../../../plugins/watch-folder/candidates/file-facts.js'
import { moveSource } from '../../../../plugins/watch-folder/hooks/move-source.js'
import { folderOfEachTest } from '../../../helpers/system/folder-of-tests.js'

const folder = folderOfEachTest()

describe('moveSource', () => {
  async function source(path: string, text = path) {
    await mkdir(join(folder.path, 'in/sub'), { recursive: true })
    await writeFile(folder.file(`in/${path}`), text)
    const facts = await fileFacts(folder.file(`in/${path}`))
    if (!facts) throw new Error('no file')
    return facts
  }

  it('moves what was read, under its own path, and says the same once more after a crash', async () => {
    const facts = await source('sub/a.mov')
    for (let call = 0; call < 2; call++)
      expect(await moveSource(folder.file('in'), 'sub/a.mov', folder.file('done'), facts)).toBe(
        folder.file('done/sub/a.mov'),
      )
    expect(await readdir(folder.file('in/sub'))).toEqual([])
    const next = await source('sub/b.mov')
    await mkdir(folder.file('elsewhere'))
    await mkdir(folder.file('done-2'))
    await symlink('../elsewhere', folder.file('done-2/sub'))
    const moving = moveSource(folder.file('in'), 'sub/b.mov', folder.file('done-2'), next)
    await expect(moving).rejects.toMatchObject({ code: 'ERR_WATCH_FOLDER' })
    expect([await readdir(folder.file('elsewhere')), await readdir(folder.file('in/sub'))]).toEqual([[], ['b.mov']])
  })

  it('never over another file, and never a newer version', async () => {
    const first = await source('a.mov', 'first')
    await moveSource(folder.file('in'), 'a.mov', folder.file('done'), first)
    const second = await source('a.mov', 'second')
    expect(await moveSource(folder.file('in'), 'a.mov', folder.file('done'), second)).toBe(folder.file('done/a~2.mov'))
    expect(await readFile(folder.file('done/a.mov'), 'utf8')).toBe('first')
    const third = await source('b.mov')
    await utimes(folder.file('in/b.mov'), 1, 1)
    expect(await moveSource(folder.file('in'), 'b.mov', folder.file('done'), third)).toBe(folder.file('in/b.mov'))
  })
})

describe('a source that is exported again while it is moved', () => {
  const places = () => ({ root: folder.file('in'), done: folder.file('done'), source: folder.file('in/a.mov') })

  it.each(Array.from({ length: 60 }, (_, turns) => turns))('keeps its name (after %i turns)', async (turns) => {
    const { root, done, source } = places()
    await mkdir(root)
    await writeFile(source, 'old')
    await writeFile(folder.file('new'), 'new version')
    const facts = (await fileFacts(source)) as FileFacts
    const moving = moveSource(root, 'a.mov', done, facts)
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
    renameSync(folder.file('new'), source)
    await moving
    expect(await readFile(source, 'utf8')).toBe('new version')
    const moved = existsSync(done) ? await readdir(done) : []
    for (const name of moved) expect(await readFile(join(done, name), 'utf8')).toBe('old')
    expect(await readdir(root)).toEqual(['a.mov'])
  })

  it.each(Array.from({ length: 30 }, (_, turns) => turns))(
    'or is renamed is not lost (after %i turns)',
    async (turns) => {
      const { root, done, source } = places()
      await mkdir(root)
      await writeFile(source, 'old')
      const moving = moveSource(root, 'a.mov', done, (await fileFacts(source)) as FileFacts).catch(() => {})
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
      if (existsSync(source)) renameSync(source, folder.file('kept.mov'))
      await moving
      const kept = [folder.file('kept.mov'), join(done, 'a.mov')].filter((path) => existsSync(path))
      expect(await Promise.all(kept.map((path) => readFile(path, 'utf8')))).toContain('old')
    },
  )
})

describe('moveSource, while the file is replaced or written to', () => {
  const [path, newer] = ['in/a.mov', 'in/a.mov.part']

  /** Moves the source, and acts as soon as it has its new name. */
  async function moveAnd(act: () => void): Promise<string> {
    await mkdir(folder.file('in'))
    await writeFile(folder.file(path), 'first')
    await writeFile(folder.file(newer), 'newer')
    const facts = await fileFacts(folder.file(path))
    if (!facts) throw new Error('no file')
    const moving = moveSource(folder.file('in'), 'a.mov', folder.file('done'), facts)
    const look = () => void (existsSync(folder.file('done/a.mov')) ? act() : setImmediate(look))
    look()
    return moving
  }

  it('leaves a newer version that got its name', async () => {
    await moveAnd(() => renameSync(folder.file(newer), folder.file(path)))
    expect(await readFile(folder.file(path), 'utf8')).toBe('newer')
    expect(await readFile(folder.file('done/a.mov'), 'utf8')).toBe('first')
  })

  it('leaves a file that is written to', async () => {
    const place = await moveAnd(() => appendFileSync(folder.file(path), ' and more'))
    expect(place).toBe(folder.file(path))
    expect(await readFile(folder.file(path), 'utf8')).toBe('first and more')
    expect(await readdir(folder.file('done'))).toEqual([])
  })
})
