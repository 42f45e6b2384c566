import { existsSync } from 'node:fs'
import { lstat, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import PQueue from 'p-queue'
import { describe, expect, it, vi } from 'vitest'
import { CandidateJudge } from '../../../plugins/watch-folder/candidates/candidate-judge.js'
import { Candidates } from '../../../plugins/watch-folder/candidates/candidates.js'
import type { FileFacts } from '../../../plugins/watch-folder/candidates/file-facts.js'
import { WriterWatch } from '../../../plugins/watch-folder/candidates/writer-watch.js'
import { FolderPresence } from '../../../plugins/watch-folder/folders/folder-presence.js'
import { outputByTemplate } from '../../../plugins/watch-folder/folders/output-by-template.js'
import { prepareFolder } from '../../../plugins/watch-folder/folders/prepare-folder.js'
import { linkOut } from '../../../plugins/watch-folder/folders/require-inside.js'
import { UsedFolders } from '../../../plugins/watch-folder/folders/used-folders.js'
import { type FailureReport, FailureReports } from '../../../plugins/watch-folder/hooks/failure-reports.js'
import type { Intake } from '../../../plugins/watch-folder/intake/intake.js'
import { openSeenFiles } from '../../../plugins/watch-folder/intake/seen-files.js'
import type { Aftercare, WatchedFolder } from '../../../plugins/watch-folder/watched-folder.js'
import { WATCH_DEFAULTS } from '../../../src/config/watch-schema.js'
import { silentLogger } from '../../../src/core/logger.js'
import { openLedger } from '../../../src/ledger/index.js'
import { folderOfEachTest } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfEachTest()

describe('outputByTemplate', () => {
  const place = (template: string, path: string) => {
    const { folder: target, stem } = outputByTemplate('/out', template, { path, preset: '/p/film.json', takenMs: 0 })
    return join(target, stem)
  }

  it.each([
    [WATCH_DEFAULTS.name, 'day 1/a.b.mov', '/out/day 1/a.b'],
    [WATCH_DEFAULTS.name, 'clip.mov', '/out/clip'],
    ['{date}/{preset}/{name}.clean{ext}', 'x/clip.mov', '/out/1970-01-01/film/clip.clean'],
    ['../../{name}{ext}', 'clip.mov', '/out/clip'],
    ['{folder}/../{name}{ext}', 'x/clip.mov', '/out/x/clip'],
  ])('%j of %j', (template, path, expected) => {
    expect(place(template, path)).toBe(expected)
  })

  it('refuses a template that leaves no name', () => {
    expect(() => place('{folder}', 'clip.mov')).toThrow('leaves no name')
    expect(() => place('..', 'clip.mov')).toThrow('leaves no name')
  })
})

it('a folder for outputs or reports that is a file is refused in words', async () => {
  const file = folder.file('notes.txt')
  await writeFile(file, '')
  for (const failed of [file, join(file, 'below')]) {
    const wish = { path: folder.file('.'), out: folder.file('out'), failed, done: folder.file('done'), source: 'keep' }
    await expect(prepareFolder(wish as Aftercare)).rejects.toMatchObject({
      code: 'ERR_WATCH_FOLDER',
      message: expect.stringContaining(`${failed} cannot be a folder (it is a file, or lies below one)`),
    })
  }
})

it.skipIf(process.platform === 'win32')(
  'the root of the file system is refused before anything is made in it',
  async () => {
    const wish = { path: '/', out: folder.file('out'), failed: folder.file('failed'), done: '/', source: 'keep' }
    await expect(prepareFolder(wish as Aftercare)).rejects.toMatchObject({
      code: 'ERR_WATCH_FOLDER',
      remedies: [expect.stringContaining('Name the folder')],
    })
    expect(await readdir(folder.path)).toEqual([])
  },
)

it('a file that is moved away while it is examined is passed over without a warning', async () => {
  const facts: FileFacts = { sizeBytes: 8192, allocatedBytes: 8192, mtimeNs: 1n, ctimeNs: 1n, dev: 1n, ino: 1n }
  const candidates = new Candidates(0)
  const warn = vi.fn()
  const candidate = candidates.see('gone.mov', facts, performance.now())
  await new Promise<void>((resolve) => {
    const judge = new CandidateJudge({
      folder: { path: folder.file('.'), settleMs: 0, patienceMs: 60_000, filter: { marker: null } } as WatchedFolder,
      intake: {} as Intake,
      judging: new PQueue(),
      writers: new WriterWatch(),
      logger: { ...silentLogger, warn },
      signal: new AbortController().signal,
      onTaken: () => {},
      onFree: resolve,
    })
    judge.judge(candidate)
  })
  expect(warn).not.toHaveBeenCalled()
})

describe('linkOut', () => {
  it('names a symlink below a folder that leads out of it, and lets the folder itself be one', async () => {
    const at = (path: string) => folder.file(path)
    for (const path of ['named/sub', 'elsewhere/sub', 'named-2']) await mkdir(at(path), { recursive: true })
    await symlink(at('named'), at('link'))
    await symlink('sub', at('named/within'))
    await symlink('../elsewhere', at('named/out'))
    await symlink('../named-2', at('named/sibling'))
    await symlink('../nowhere', at('named/dangling'))
    const isOut = async (path: string, named = 'named') => (await linkOut(at(named), at(path))) !== null
    for (const path of ['named', 'named/sub', 'named/sub/new/newer', 'named/within/new', 'elsewhere/sub'])
      expect(await isOut(path), path).toBe(false)
    for (const path of ['named/out', 'named/out/sub', 'named/out/new/newer', 'named/sibling', 'named/dangling/new'])
      expect(await isOut(path), path).toBe(true)
    expect([await isOut('link/sub', 'link'), await isOut('link/out', 'link')]).toEqual([false, true])
    expect(await isOut('new/sub', 'new')).toBe(false)
  })
})

describe('FailureReports', () => {
  const report: FailureReport = {
    ...{ source: '/in/a.mov', status: 'rejected', job: '01J', preset: 'film', at: '2026-01-01T00:00:00Z' },
    error: {
      code: 'ERR_UNREADABLE',
      errorCode: -2,
      name: 'CorruptedFile',
      message: 'It is empty.',
      remedies: ['Copy it.'],
    },
  }

  it.each(['a.mov', 'day 1/a.mov', `${'🎬'.repeat(62)}abc.mov`, 'line\nbreak.mov'])('of %j', async (path) => {
    const reports = new FailureReports(folder.file('failed'), '/in')
    await reports.write(path, report)
    await reports.write(path, report)
    const written = JSON.parse(await readFile(await reports.pathOf(path), 'utf8'))
    expect(written).toMatchObject({
      schemaVersion: 1,
      code: 'ERR_UNREADABLE',
      remedies: ['Copy it.'],
      source: '/in/a.mov',
    })
    await reports.remove(path)
    await reports.remove(path)
    const left = await readdir(folder.file('failed'), { recursive: true, withFileTypes: true })
    expect(left.filter((entry) => entry.isFile())).toEqual([])
  })

  it('follow no link that another user put into their folder', async () => {
    await mkdir(folder.file('failed'))
    await writeFile(folder.file('other'), 'kept')
    await symlink(folder.file('other'), folder.file(`failed/.voxmux-${report.job}.report`))
    const reports = new FailureReports(folder.file('failed'), '/in')
    await reports.write('a.mov', report)
    expect(await readFile(folder.file('other'), 'utf8')).toBe('kept')
    expect((await lstat(await reports.pathOf('a.mov'))).isFile()).toBe(true)
  })

  it('of two watched folders that share a folder for them leave each other alone', async () => {
    const [one, two] = ['one', 'two'].map((name) => folder.file(name)) as [string, string]
    const of = (root: string) => new FailureReports(folder.file('failed'), root)
    const sources = async (): Promise<readonly string[]> => {
      const names = await readdir(folder.file('failed'))
      const texts = await Promise.all(names.map((name) => readFile(folder.file(`failed/${name}`), 'utf8')))
      return texts.map((text) => (JSON.parse(text) as { source: string }).source).sort()
    }
    const sourceIn = (root: string) => join(root, 'a.mov')
    for (const root of [one, two]) {
      await mkdir(root)
      await writeFile(sourceIn(root), '')
    }
    await of(one).write('a.mov', { ...report, source: sourceIn(one) })
    await of(two).remove('a.mov')
    expect(await sources()).toEqual([sourceIn(one)])
    for (const _ of ['first', 'again']) await of(two).write('a.mov', { ...report, source: sourceIn(two) })
    expect(await sources()).toEqual([sourceIn(one), sourceIn(two)])
    await of(one).remove('a.mov')
    expect(await sources()).toEqual([sourceIn(two)])
    // Its name is free now. One file has one report.
    await of(two).write('a.mov', { ...report, source: sourceIn(two), job: '02J' })
    expect(await sources()).toEqual([sourceIn(two)])
    await of(two).remove('a.mov')
    expect(await sources()).toEqual([])
  })

  it('writes and removes nothing behind a symlink out of its folder', async () => {
    await mkdir(folder.file('failed'))
    await mkdir(folder.file('elsewhere'))
    await writeFile(folder.file('elsewhere/a.mov.json'), 'theirs')
    await symlink('../elsewhere', folder.file('failed/day 1'))
    const reports = new FailureReports(folder.file('failed'), '/in')
    await expect(reports.write('day 1/a.mov', report)).rejects.toMatchObject({ code: 'ERR_WATCH_FOLDER' })
    await expect(reports.remove('day 1/a.mov')).rejects.toMatchObject({ code: 'ERR_WATCH_FOLDER' })
    expect(await readFile(folder.file('elsewhere/a.mov.json'), 'utf8')).toBe('theirs')
  })
})

describe('FolderPresence', () => {
  it('pauses a folder while it is away or of another daemon, and leaves the pause of a person alone', async () => {
    const ledger = await openLedger(folder.file('ledger.sqlite'))
    const seen = openSeenFiles(folder.file('seen.sqlite'))
    const [path, away] = [folder.file('watched'), folder.file('away')]
    await mkdir(path)
    const used = new UsedFolders(
      {
        ...{ group: 'g', path, out: join(path, 'out'), failed: join(path, 'failed'), done: join(path, 'done') },
        ...{ source: 'keep', after: null },
      },
      seen,
    )
    let rival: string | null = null
    const presence = new FolderPresence({
      ...{ used, jobs: ledger.jobs, logger: silentLogger, onChange: () => {} },
      rival: async () => rival,
    })
    const reasons = async () => (await ledger.jobs.pauses()).map(({ reason }) => reason)
    await presence.look()
    for (const byPerson of [[], ['By a person.']]) {
      for (const reason of byPerson) await ledger.jobs.pause('g', reason)
      await rename(path, away)
      expect(await presence.look()).toBe(false)
      expect(await reasons()).toEqual(byPerson.length > 0 ? byPerson : [expect.stringMatching(/^offline: /)])
      await rename(away, path)
      expect(await presence.look()).toBe(true)
      expect(await reasons()).toEqual(byPerson)
    }
    await ledger.jobs.resume('g')
    await rename(path, away)
    await presence.look()
    await presence.leave()
    expect(await reasons()).toEqual([])
    await rename(away, path)
    // A worker elsewhere would pay for the files of another ledger's daemon.
    rival = 'Theirs.'
    await presence.look()
    await presence.leave()
    expect(await reasons()).toEqual(['offline: Theirs.'])
    rival = null
    await presence.look()
    expect(await reasons()).toEqual([])
    seen.close()
    await ledger.close()
  })

  it.runIf(process.platform === 'linux')('says why a place that it fills cannot be made', async () => {
    const seen = openSeenFiles(folder.file('seen.sqlite'))
    const path = folder.file('watched')
    await mkdir(path)
    // Nobody makes a folder there, not even root.
    const out = '/sys/voxmux-out'
    const absence = (root: string, outputs: string) => {
      const aftercare = {
        ...{ group: 'g', path: root, out: outputs },
        failed: join(root, 'failed'),
        done: join(root, 'done'),
      }
      return new UsedFolders({ ...aftercare, source: 'keep', after: null }, seen).absence({ make: true })
    }
    for (const root of [path, '/sys'])
      expect(await absence(root, out)).toMatch(
        /^\/sys\/voxmux-out does not exist and cannot be made: (permission denied|its file system is mounted read-only)\.$/,
      )
    // A share that can only be read is watched all the same.
    expect(await absence('/sys', path)).toBe(null)
    seen.close()
  })
})

describe('what was seen', () => {
  it('is known by path and by content, over restarts', () => {
    const open = () => openSeenFiles(folder.file('seen.sqlite'))
    const file = {
      group: 'g',
      path: 'a\n🎬.mov',
      sizeBytes: 5,
      mtimeNs: 2n ** 62n,
      ino: 2n ** 63n + 1n,
      contentId: 'c',
      jobId: 'j',
    }
    const first = open()
    first.put([file, { ...file, group: 'other' }])
    first.putMount('g', '/mnt/nas/in', '/mnt/nas')
    first.putMount('other', '/mnt/nas/in', '/')
    first.close()
    const second = open()
    expect(second.get('g', file.path)).toEqual(file)
    expect(second.withContent('g', 'c')).toEqual([file])
    const mounts = () => [second.mountOf('g', '/mnt/nas/in'), second.mountOf('other', '/mnt/nas/in')]
    expect(mounts()).toEqual(['/mnt/nas', '/'])
    second.removeMounts('g')
    expect(mounts()).toEqual([null, '/'])
    second.remove('g', [file.path])
    expect(second.get('g', file.path)).toBeNull()
    expect(second.withContent('other', 'c')).toHaveLength(1)
    second.close()
    expect(existsSync(folder.file('seen.sqlite'))).toBe(true)
  })
})
