import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Config, resolveConfig } from '../../src/config/resolve-config.js'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'voxmux-watch-config-'))
  await mkdir(join(root, 'work'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

/** Resolves a file that is found in the working folder, or named. */
async function resolved(watch: unknown, { named = false } = {}): Promise<Config> {
  const path = join(root, named ? 'daemon.json' : 'work/voxmux.config.json')
  await writeFile(path, JSON.stringify({ watch }))
  return resolveConfig({
    cwd: join(root, 'work'),
    env: {},
    configPath: named ? path : undefined,
    folders: { config: null, data: join(root, 'state') },
  })
}

describe('the key watch', () => {
  it('is empty where nothing is said', async () => {
    expect((await resolved(undefined)).watch).toEqual({})
  })

  it('makes paths absolute: a folder from its file, its own folders from the folder', async () => {
    const { watch } = await resolved({
      settleSec: 3,
      folders: [
        { path: 'in', out: 'finished', failed: '../bad', preset: './p.json' },
        { path: '/media/x', preset: 'podcast' },
      ],
    })
    expect(watch.settleSec).toBe(3)
    expect(watch.folders).toEqual([
      {
        path: join(root, 'work/in'),
        out: join(root, 'work/in/finished'),
        failed: join(root, 'work/bad'),
        preset: join(root, 'work/p.json'),
      },
      { path: resolve(root, '/media/x'), preset: 'podcast' },
    ])
  })

  it.each([
    ['a command', { command: ['/bin/true'] }],
    ['a webhook', { webhook: 'https://hooks.example/x' }],
  ])('takes %s from a file that is named, and from none that is found', async (_what, after) => {
    const watch = { folders: [{ path: 'ok' }, { path: 'in', after }] }
    await expect(resolved(watch)).rejects.toMatchObject({
      code: 'ERR_CONFIG_NOT_ALLOWED',
      message: expect.stringContaining('"watch.folders[1].after"'),
    })
    expect((await resolved(watch, { named: true })).watch.folders?.[1]?.after).toEqual(after)
  })

  it.each([
    [
      { folders: [{ path: 'a' }, { path: 'b', setleSec: 3 }] },
      /"watch\.folders\[1\]\.setleSec" \(did you mean "watch\.folders\[1\]\.settleSec"\?\)/,
    ],
    [{ folders: [{}] }, /"watch\.folders\[0\]\.path" is missing/],
    [{ folders: [{ path: 'a', source: 'delete' }] }, /must be one of "keep", "move"/],
    [{ folders: [{ path: 'a', marker: '../{name}' }] }, /file name with \{name\}/],
    [{ folders: [{ path: 'a', after: { webhook: 'file:///etc/passwd' } }] }, /http or https/],
    [{ scanSec: 0 }, /at least 0\.1/],
    [{ folders: [{ path: '~/in' }] }, /"watch\.folders\[\]\.path" is ~\/in, and only a shell replaces the ~/],
    [{ folders: [{ path: 'in', out: '~' }] }, /"watch\.folders\[\]\.out" is ~, and only a shell/],
  ])('says what is wrong with %j', async (watch, message) => {
    await expect(resolved(watch)).rejects.toThrow(message)
  })
})
