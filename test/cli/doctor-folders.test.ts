import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { countFolders, inotifyWatches } from '../../plugins/watch-folder/folders/inotify-watches.js'
import { examineFolders, findMount, isNetworkType, mountOf } from '../../src/cli/doctor/examine-folders.js'
import type { Config } from '../../src/config/index.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'voxmux-doctor-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const examine = (watch: Config['watch']) => examineFolders({ watch } as Config)

describe('the doctor of watched folders', () => {
  it('says nothing where none is configured', async () => {
    expect(await examine({})).toEqual([])
  })

  it('finds a folder in order, and leaves nothing behind', async () => {
    await mkdir(join(folder, 'in/sub'), { recursive: true })
    const path = join(folder, 'in')
    const found = await examine({ folders: [{ path, out: join(folder, 'new/out'), source: 'move' }] })
    expect(found.map(({ check, status }) => `${check} ${status}`)).toEqual([
      'watch folder ok',
      'output ok',
      'reports ok',
      'done ok',
      ...((await inotifyWatches()) ? ['watches ok'] : []),
    ])
    expect(await readdir(folder, { recursive: true })).toEqual(['in', 'in/sub'])
  })

  it('names a folder that is not there, and what is in its place', async () => {
    await writeFile(join(folder, 'file'), '')
    const found = await examine({
      poll: true,
      folders: [{ path: join(folder, 'gone') }, { path: join(folder, 'file') }],
    })
    expect(found).toMatchObject([
      {
        check: 'watch folder',
        status: 'fault',
        exitCode: 2,
        detail: `The folder ${join(folder, 'gone')} does not exist.`,
      },
      { check: 'watch folder', status: 'fault', exitCode: 2, detail: `The folder ${join(folder, 'file')} is a file.` },
    ])
    expect(found[0]?.remedies.join()).toContain('mount the share')
  })

  it('names an output folder that cannot be written', async () => {
    await writeFile(join(folder, 'file'), '')
    // One bad folder at a time: a check that looked at the wrong one would find nothing.
    const judged = async (out: string, failed: string) =>
      (await examine({ poll: true, folders: [{ path: folder, out, failed }] })).map(
        ({ check, status }) => `${check} ${status}`,
      )
    const [good, bad] = [join(folder, 'good'), join(folder, 'file')]
    expect(await judged(bad, good)).toEqual(['watch folder ok', 'output fault', 'reports ok'])
    expect(await judged(good, bad)).toEqual(['watch folder ok', 'output ok', 'reports fault'])
  })

  it.runIf(process.platform === 'linux')('names the folder, not its own test file, and the reason', async () => {
    const [, output] = await examine({ poll: true, folders: [{ path: folder, out: '/sys/voxmux/out' }] })
    expect(output).toMatchObject({ check: 'output', status: 'fault', exitCode: 2 })
    expect(output?.detail).toMatch(
      /^Cannot make \/sys\/voxmux\/out in \/sys: (permission denied|its file system is mounted read-only)\.$/,
    )
    expect(output?.remedies.join()).toContain('the user of the service')
  })

  it('says where sources could not be moved by name', async ({ skip }) => {
    const own = await mountOf(folder)
    const other = own?.point === '/dev/shm' ? '/var/tmp' : '/dev/shm'
    if ((await mountOf(other))?.point === own?.point) return skip('no second file system')
    const [, , , done] = await examine({
      poll: true,
      folders: [{ path: folder, source: 'move', done: `${other}/done` }],
    })
    expect(done).toMatchObject({ check: 'done', status: 'note' })
  })
})

describe('the table of mounts', () => {
  const table = [
    '/dev/sda1 / ext4 rw 0 0',
    '//nas/media /mnt/nas\\040one cifs rw 0 0',
    'server:/x /mnt/nas nfs4 rw 0 0',
    'tmpfs /mnt/nas/fast tmpfs rw 0 0',
    '',
  ].join('\n')

  it.each([
    ['/home/x', 'ext4'],
    ['/mnt/nas one/in', 'cifs'],
    ['/mnt/nas one', 'cifs'],
    ['/mnt/nas/in', 'nfs4'],
    ['/mnt/nas/fast/in', 'tmpfs'],
    ['/mnt/nasty', 'ext4'],
  ])('finds %s on %s', (path, type) => {
    expect(findMount(path, table)?.type).toBe(type)
  })

  it('knows a share', () => {
    expect(['ext4', 'tmpfs', 'cifs', 'nfs4', 'fuse.sshfs', '9p'].map(isNetworkType)).toEqual([
      ...[false, false, true, true, true, true],
    ])
  })
})

it('counts folders, itself included, and no further than it must', async () => {
  for (let n = 0; n < 20; n++) await mkdir(join(folder, `${n % 4}/${n}`), { recursive: true })
  expect(await countFolders(folder, 1000)).toBe(25)
  expect(await countFolders(folder, 5)).toBeLessThan(25)
})
