import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { appendFile, copyFile, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import { regenerateHls } from 'voxmux/plugins/hls'
import { type TestFolder, testFolder } from '../../helpers/media-factory.js'
import { NO_STRACE } from '../../helpers/system/system-calls.js'
import { halveVoice } from './halve-voice.js'
import { makePackage } from './made-package.js'

let folder: TestFolder
let master: string
let [out, receipt] = ['', '']

beforeEach(async () => {
  folder = await testFolder()
  ;[out, receipt] = [folder.file('out'), folder.file('out.voxmux.json')]
  master = await makePackage(folder.file('in'), { type: 'mpegts', durationSec: 2, segmentSec: 1 })
  return () => folder.remove()
})

const hidden = async () => (await readdir(folder.path)).filter((name) => name.startsWith('.'))

describe('a package that changes while it is regenerated', () => {
  const changes: Readonly<Record<string, (path: (name: string) => string) => Promise<void>>> = {
    'a segment of sound': (path) => copyFile(path('eng/part001.ts'), path('eng/part000.ts')),
    'a segment of the picture': (path) => appendFile(path('large/part000.ts'), 'more'),
    'the master playlist': (path) => appendFile(path('master.m3u8'), '# more'),
    'a media playlist': (path) => utimes(path('eng/stream.m3u8'), 1, 1),
  }
  it.each(Object.keys(changes))('%s is not published', async (what) => {
    const regenerate = async (input: string, output: string) => {
      await halveVoice(input, output)
      await changes[what]?.((name) => folder.file(`in/${name}`))
    }
    await expect(regenerateHls(master, out, { regenerate })).rejects.toMatchObject({ code: 'ERR_INPUT_CHANGED' })
    expect([existsSync(out), existsSync(receipt), await hidden()]).toEqual([false, false, []])
  })
})

describe('the place of a new package', () => {
  it('stays that of another program which fills it meanwhile', async () => {
    const regenerate = async (input: string, output: string) => {
      await halveVoice(input, output)
      await mkdir(out, { recursive: true })
      await writeFile(`${out}/theirs`, 'of somebody else')
    }
    await expect(regenerateHls(master, out, { regenerate })).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' })
    expect([await readdir(out), existsSync(receipt), await hidden()]).toEqual([['theirs'], false, []])
  })

  it('and of its receipt stays that of another run which is done first', async () => {
    let first: string | undefined
    const regenerate = async (input: string, output: string) => {
      await halveVoice(input, output)
      if (first !== undefined) return
      first = ''
      await regenerateHls(master, out, { regenerate: halveVoice })
      first = await readFile(receipt, 'utf8')
    }
    await expect(regenerateHls(master, out, { regenerate })).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' })
    expect([await readFile(receipt, 'utf8'), await hidden()]).toEqual([first, []])
  })

  it.skipIf(NO_STRACE).each(['1', '2', '3'])('is free again after a kill at rename %s of the result', async (which) => {
    const script = folder.file('run.mjs')
    await writeFile(
      script,
      `import { execFileSync } from 'node:child_process'
import { regenerateHls } from '${pathToFileURL('dist/plugins/hls/index.js').href}'
const regenerate = async (input, output) =>
  execFileSync('ffmpeg', ['-v', 'error', '-i', input, '-af', 'volume=0.5', '-c:a', 'pcm_f32le', output])
await regenerateHls(process.argv[2], process.argv[3], { regenerate })`,
    )
    const kill = ['-f', '-e', 'trace=rename', '-e', `inject=rename:signal=KILL:when=${which}`]
    // One thread, because strace counts for each.
    const env = { ...process.env, UV_THREADPOOL_SIZE: '1' }
    const killed = spawnSync('strace', [...kill, process.execPath, script, master, out], { stdio: 'ignore', env })
    expect(killed.signal ?? killed.status).not.toBe(0)
    const result = await regenerateHls(master, out, { regenerate: halveVoice })
    expect(JSON.parse(await readFile(receipt, 'utf8'))).toMatchObject({ files: result.files })
    expect(await hidden()).toEqual([])
  })
})
