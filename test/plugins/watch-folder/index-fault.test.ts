import { mkdirSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import PQueue from 'p-queue'
import { expect, it, onTestFinished, vi } from 'vitest'
import { WriterWatch } from '../../../plugins/watch-folder/candidates/writer-watch.js'
import { FolderWatch } from '../../../plugins/watch-folder/folder-watch.js'
import type { Intake } from '../../../plugins/watch-folder/intake/intake.js'
import { openSeenFiles } from '../../../plugins/watch-folder/intake/seen-files.js'
import type { WatchedFolder } from '../../../plugins/watch-folder/watched-folder.js'
import { silentLogger } from '../../../src/core/logger.js'
import type { JobStore } from '../../../src/ledger/index.js'
import { requestFor } from '../../helpers/test-pipeline.js'
import { until } from '../../helpers/until.js'
import { openWorkshop } from '../../helpers/workshop.js'

it('a watched folder says that its index of seen files fails, and goes on after that', async () => {
  const workshop = openWorkshop()
  const seen = openSeenFiles(workshop.path('watch.sqlite'))
  const path = workshop.path('in')
  mkdirSync(path)
  const folder: Partial<WatchedFolder> = {
    ...{ group: path, path, out: `${path}/out`, failed: `${path}/failed`, done: `${path}/done`, source: 'keep' },
    ...{ settleMs: 1500, patienceMs: 0, scanMs: 100, poll: true },
    settings: requestFor(path).settings,
    filter: { include: [], exclude: [], marker: null, renamedFrom: null },
  }
  const take = vi.fn(async (_path: string) => ({ outcome: 'later' }))
  const watch = new FolderWatch({
    ...{ folder: folder as WatchedFolder, closed: new Set<string>(), seen, judging: new PQueue() },
    writers: new WriterWatch(),
    ledgerId: 'one',
    jobs: { pauses: async () => [] } as unknown as JobStore,
    intake: { take } as unknown as Intake,
    logger: silentLogger,
    onTaken: () => {},
    onChange: () => {},
  })
  onTestFinished(async () => {
    await watch.stop()
    seen.close()
    workshop.remove()
  })
  writeFileSync(`${path}/a.wav`, 'sound')
  watch.start()
  await until(() => watch.view.waitingFiles === 1)
  const fault = vi.spyOn(seen, 'get').mockImplementation(() => {
    throw new Error('database or disk is full')
  })
  await until(() => fault.mock.calls.length > 0)
  await sleep(50)
  // Nothing can be taken, so it must not look watched.
  await vi.waitUntil(() => watch.view.state === 'offline', 5000)
  expect(watch.view.reason).toContain('database or disk is full')
  fault.mockRestore()
  await vi.waitUntil(() => take.mock.calls.length > 0, 5000)
  await vi.waitUntil(() => watch.view.state === 'watching', 5000)
  expect(watch.view.reason).toBeNull()
  expect(take.mock.calls[0]?.[0]).toBe('a.wav')
})
