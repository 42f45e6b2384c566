import { chmod, link, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { existingOutput } from '../../../src/pipeline/output/existing-output.js'
import { requireFreeSpace } from '../../../src/pipeline/output/free-space.js'
import { clearStaleParts, partPath } from '../../../src/pipeline/output/part-file.js'
import { publish } from '../../../src/pipeline/output/publish.js'
import { requireWritableFolder } from '../../../src/pipeline/output/writable-folder.js'
import { fittingName, outputPath, receiptPath } from '../../../src/pipeline/plan/output-path.js'
import { planJob } from '../../../src/pipeline/plan/plan-job.js'
import { fixture } from '../../helpers/job-bench.js'
import { requestFor } from '../../helpers/test-pipeline.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'voxmux-publish-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('publish', () => {
  it('gives the part its name and leaves nothing else', async () => {
    const output = join(folder, 'out.mov')
    const part = partPath(output, 'job1')
    await writeFile(part, 'new')
    expect(await publish(part, output, { replace: false })).toBe('link')
    expect(await readFile(output, 'utf8')).toBe('new')
    expect(await readdir(folder)).toEqual(['out.mov'])
  })

  it('never replaces a file that exists', async () => {
    const output = join(folder, 'out.mov')
    const part = partPath(output, 'job1')
    await writeFile(output, 'old')
    await writeFile(part, 'new')
    await expect(publish(part, output, { replace: false })).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' })
    expect(await readFile(output, 'utf8')).toBe('old')
  })

  it('replaces it when told so', async () => {
    const output = join(folder, 'out.mov')
    const part = partPath(output, 'job1')
    await writeFile(output, 'old')
    await writeFile(part, 'new')
    expect(await publish(part, output, { replace: true })).toBe('replace')
    expect(await readFile(output, 'utf8')).toBe('new')
  })

  it('never writes through a link that lies in the place of the output by now', async () => {
    const [output, victim] = [join(folder, 'out.mov'), join(folder, 'victim')]
    await writeFile(victim, 'of another')
    await symlink(victim, output)
    for (const replace of [false, true]) {
      const part = partPath(output, 'job1')
      await writeFile(part, 'new')
      const end = await publish(part, output, { replace }).catch(({ code }) => code)
      expect(end).toBe(replace ? 'replace' : 'ERR_OUTPUT_EXISTS')
      expect(await readFile(victim, 'utf8')).toBe('of another')
    }
    expect((await lstat(output)).isFile()).toBe(true)
  })

  it('gives no name, by link or by replacing, to the part of a job that is another’s by now', async () => {
    const output = join(folder, 'out.mov')
    const part = partPath(output, 'job1')
    await writeFile(part, 'late')
    const mayPublish = () => Promise.reject(new Error('the lease is lost'))
    await expect(publish(part, output, { replace: false, mayPublish })).rejects.toThrow('lease')
    await writeFile(output, 'of the other')
    await expect(publish(part, output, { replace: true, mayPublish })).rejects.toThrow('lease')
    expect(await readFile(output, 'utf8')).toBe('of the other')
  })

  it('lets exactly one of many racing parts win', async () => {
    const output = join(folder, 'out.mov')
    const parts = Array.from({ length: 8 }, (_, index) => partPath(output, `job${index}`))
    await Promise.all(parts.map((part) => writeFile(part, part)))
    const ends = await Promise.allSettled(parts.map((part) => publish(part, output, { replace: false })))
    expect(ends.filter((end) => end.status === 'fulfilled')).toHaveLength(1)
  })
})

describe('part files', () => {
  it('have another name each time, and a link in the place of one is not published', async () => {
    const output = join(folder, 'out.mov')
    const part = partPath(output, 'job1')
    expect(partPath(output, 'job1')).not.toBe(part)
    const victim = join(folder, 'victim')
    await writeFile(victim, 'of another')
    await symlink(victim, part)
    for (const replace of [true, false])
      await expect(publish(part, output, { replace })).rejects.toMatchObject({ code: 'ERR_PART_REPLACED' })
    expect(await readFile(victim, 'utf8')).toBe('of another')
    expect(await readdir(folder)).not.toContain('out.mov')
  })

  it('clears those of jobs that nobody works on, and leaves the others', async () => {
    const names = [
      '.voxmux-dead.part',
      '.voxmux-dead.part.json',
      `.voxmux-dead-${'0a'.repeat(12)}.part`,
      `.voxmux-dead-${'0a'.repeat(12)}.part.html`,
      basename(partPath(join(folder, 'x.mov'), 'dead')),
      '.voxmux-live.part',
      '.voxmux-unknown.part',
      '.voxmux-1865f000-0fa5-46e5-b6cf-de12eee064af.probe',
      'clip.mov',
    ]
    for (const name of names) await writeFile(join(folder, name), '')
    await clearStaleParts(folder, async (id) => (id === 'unknown' ? undefined : id === 'live'))
    expect((await readdir(folder)).sort()).toEqual(['.voxmux-live.part', '.voxmux-unknown.part', 'clip.mov'])
  })

  it('clears an unknown one after a day', async () => {
    const path = join(folder, '.voxmux-unknown.part')
    await writeFile(path, '')
    const past = new Date(Date.now() - 2 * 24 * 3600 * 1000)
    await utimes(path, past, past)
    await clearStaleParts(folder, async () => undefined)
    expect(await readdir(folder)).toEqual([])
  })

  it('clears the folder in which a killed process built a bundle', async () => {
    const left = ['.voxmux-1865f000-0fa5-46e5-b6cf-de12eee064af.part', '.voxmux-1865f000.probe']
    const past = new Date(Date.now() - 2 * 24 * 3600 * 1000)
    for (const path of left.map((name) => join(folder, name))) {
      await mkdir(join(path, 'media'), { recursive: true })
      await utimes(path, past, past)
    }
    await clearStaleParts(folder, async () => undefined)
    expect(await readdir(folder)).toEqual([])
  })

  it.runIf(process.getuid?.() === 0)('leaves what only another user may remove, and goes on', async () => {
    const names = ['.voxmux-dead.part', '.voxmux-1865f000.probe']
    for (const name of names) await writeFile(join(folder, name), '')
    await chmod(folder, 0o1777)
    process.seteuid?.(65534)
    try {
      await clearStaleParts(folder, async () => false)
    } finally {
      process.seteuid?.(0)
    }
    expect((await readdir(folder)).sort()).toEqual(names.sort())
  })

  it('says which folder cannot be written', async () => {
    await writeFile(join(folder, 'file'), '')
    await expect(requireWritableFolder(join(folder, 'file', 'sub'))).rejects.toMatchObject({
      code: 'ERR_OUTPUT_UNWRITABLE',
      exitCode: 2,
    })
  })

  it('refuses to begin what the disk cannot hold, adding up folders of one disk', async () => {
    const other = join(folder, 'other')
    await mkdir(other)
    await requireFreeSpace(new Map([[folder, 1]]))
    const half = 2 ** 59
    await expect(
      requireFreeSpace(
        new Map([
          [folder, half],
          [other, half],
        ]),
      ),
    ).rejects.toMatchObject({ code: 'ERR_DISK_FULL', exitCode: 4 })
  })
})

describe('existingOutput', () => {
  it('sees a link that leads nowhere before anything is paid for; --force replaces the link', async () => {
    const output = join(folder, 'out.mov')
    await symlink('nowhere.mov', output)
    const inputIdentity = { sizeBytes: 1, mtimeMs: 1 }
    const wanted = { input: '/a/clip.mov', inputIdentity, output, recipeHash: 'x', supersede: false }
    const look = (replace: boolean) => existingOutput({ ...wanted, replace }, null, { get: async () => null })
    await expect(look(false)).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' })
    expect(await look(true)).toEqual({ kind: 'none' })
  })
})

describe('outputPath', () => {
  const wish = { input: '/a/clip.mov', output: undefined, extension: '.mov', label: 'regen', cwd: '/work' } as const

  it('stands beside the input by default', async () => {
    expect(await outputPath(wish)).toBe('/a/clip.regen.mov')
    expect(await outputPath({ ...wish, label: 'preview' })).toBe('/a/clip.preview.mov')
  })

  it('takes a file, an existing folder, or a folder to be made', async () => {
    expect(await outputPath({ ...wish, output: 'x/new.mov' })).toBe('/work/x/new.mov')
    expect(await outputPath({ ...wish, output: folder })).toBe(join(folder, 'clip.regen.mov'))
    expect(await outputPath({ ...wish, output: 'new/' })).toBe('/work/new/clip.regen.mov')
  })

  it('takes a folder’s name for no format of a file, whatever dots are in it', async () => {
    const input = fixture('speech.wav')
    const planned = async (output: string) => {
      const { output: path, mux } = await planJob(requestFor(input, { output }), {})
      return [path, mux.container]
    }
    const there = join(folder, 'v1.2')
    await mkdir(there)
    expect(await planned(there)).toEqual([join(there, 'speech.regen.wav'), 'wav'])
    expect(await planned(`${folder}/2026.11.22/`)).toEqual([join(folder, '2026.11.22/speech.regen.wav'), 'wav'])
    expect(await planned(`${folder}/new.flac`)).toEqual([join(folder, 'new.flac'), 'flac'])
  })

  it('refuses to stand in the place of the input', async () => {
    await expect(outputPath({ ...wish, output: '/a/clip.mov' })).rejects.toMatchObject({ code: 'ERR_OUTPUT_IS_INPUT' })
  })

  it('is named for the type that is asked for, or for none', async () => {
    const planned = async (output: string, outputType: 'mp3' | 'opus') => {
      const request = requestFor(fixture('speech.wav'), { output: join(folder, output) })
      return (await planJob({ ...request, settings: { ...request.settings, outputType } }, {})).mux.container
    }
    for (const name of ['x.wav', 'x.MP4']) {
      await expect(planned(name, 'mp3')).rejects.toMatchObject({ code: 'ERR_OUTPUT_TYPE_NAME', exitCode: 2 })
    }
    expect(await Promise.all(['x.mp3', 'take.v2', 'new/'].map((name) => planned(name, 'mp3')))).toEqual(
      Array(3).fill('mp3'),
    )
    expect(await planned('x.ogg', 'opus')).toBe('opus')
  })

  it.each([
    ['a link to its folder', 'beside/clip.mov', 'clip.mov'],
    ['a link to it', 'link.mov', 'clip.mov'],
    ['the file that it is a link to', 'clip.mov', 'link.mov'],
    ['a hard link to it', 'hard.mov', 'clip.mov'],
  ])('refuses to stand in the place of the input under another name: %s', async (_, output, input) => {
    const at = (name: string) => join(folder, name)
    await writeFile(at('clip.mov'), 'dear')
    await Promise.all([symlink(folder, at('beside')), symlink('clip.mov', at('link.mov'))])
    await link(at('clip.mov'), at('hard.mov'))
    const refused = outputPath({ ...wish, input: at(input), output: at(output) })
    await expect(refused).rejects.toMatchObject({ code: 'ERR_OUTPUT_IS_INPUT' })
  })

  it('fits a name and its receipt into 255 bytes and keeps long names apart', () => {
    const one = fittingName(`${'é'.repeat(124)}1`, '.regen.mov')
    const other = fittingName(`${'é'.repeat(124)}2`, '.regen.mov')
    expect(Buffer.byteLength(receiptPath(one))).toBeLessThanOrEqual(255)
    expect(one).not.toBe(other)
    expect(one).toMatch(/^é+~[0-9a-f]{8}\.regen\.mov$/)
  })
})
