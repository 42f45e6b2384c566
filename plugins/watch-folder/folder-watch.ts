import { join, relative, sep } from 'node:path'
import { toVoxmuxError } from '../../src/core/errors.js'
import { realPathOf } from '../../src/core/make-folder.js'
import { sleep } from '../../src/core/time.js'
import { WakeUp } from '../../src/core/waiting.js'
import type { JobStore } from '../../src/ledger/index.js'
import { CandidateJudge, type CandidateJudgeOptions } from './candidates/candidate-judge.js'
import { type Candidate, Candidates } from './candidates/candidates.js'
import { fileFacts } from './candidates/file-facts.js'
import { createFileFilter, type FileFilter } from './candidates/file-filter.js'
import { FolderEvents } from './candidates/folder-events.js'
import { PASSED_OVER, type PassedOver, scanFolder } from './candidates/scan-folder.js'
import type { FolderView } from './daemon-view.js'
import { DaemonMark } from './folders/daemon-mark.js'
import { FolderPresence } from './folders/folder-presence.js'
import { UsedFolders } from './folders/used-folders.js'
import { restoreAside } from './hooks/restore-aside.js'
import type { IntakeResult } from './intake/intake.js'
import { KnownFiles } from './intake/known-files.js'
import type { SeenFiles } from './intake/seen-files.js'
import type { WatchedFolder } from './watched-folder.js'

type JudgeParts = Pick<CandidateJudgeOptions, 'folder' | 'intake' | 'judging' | 'writers' | 'logger'>

interface FolderWatchOptions extends JudgeParts {
  /** Absolute paths that are never entered. */
  readonly closed: ReadonlySet<string>
  readonly jobs: JobStore
  /** See {@link DaemonMark}. */
  readonly ledgerId: string
  readonly seen: SeenFiles
  readonly onTaken: (taken: IntakeResult) => void
  /** Called when its state changed. */
  readonly onChange: () => void
}

/** Pause between two rounds of checks while there are candidates, while there are many, and while there are none. */
const LOOK_MS = 20
const LOOK_MS_PER_FILE = 0.01
const IDLE_MS = 1000
/** A file is read this long before its settle time ends, so that it can be taken right then. */
const AHEAD_MS = 400
/** Shortest time between two scans that events ask for. */
const SCAN_GAP_MS = 1000

/** One watched folder: finds files, and has each judged when it has settled. */
export class FolderWatch {
  readonly used: UsedFolders
  readonly presence: FolderPresence
  readonly #options: FolderWatchOptions
  readonly #mark: DaemonMark
  readonly #filter: FileFilter
  readonly #judgeMs: number
  readonly #candidates: Candidates
  readonly #known: KnownFiles
  readonly #events: FolderEvents | null
  readonly #hints = new Set<string>()
  readonly #scanWakeUp = new WakeUp()
  readonly #lookWakeUp = new WakeUp()
  readonly #stop = new AbortController()
  readonly #said = new Set<string>()
  readonly #judge: CandidateJudge
  #running: Promise<unknown> | undefined
  #scannedMs: number | null = null
  /** Why the last scan failed; null if it did not. */
  #scanFault: string | null = null

  constructor(options: FolderWatchOptions) {
    const { folder, jobs, ledgerId, seen, intake, judging, writers, logger, onTaken, onChange } = options
    this.#options = options
    this.#filter = createFileFilter(folder.filter)
    this.#judgeMs = Math.max(folder.settleMs / 2, folder.settleMs - AHEAD_MS)
    this.#candidates = new Candidates(this.#judgeMs)
    this.used = new UsedFolders(folder, seen)
    this.#mark = new DaemonMark(folder, ledgerId)
    this.presence = new FolderPresence({
      ...{ used: this.used, jobs, logger, onChange },
      rival: () => this.#mark.rival(),
    })
    this.#known = new KnownFiles({ folder, jobs, seen, logger })
    this.#judge = new CandidateJudge({
      ...{ folder, intake, judging, writers, logger, signal: this.#stop.signal },
      onTaken: (candidate, taken) => {
        if (taken.outcome === 'output') this.#skip(candidate)
        else if (taken.outcome !== 'later') {
          this.#known.add(taken.seen)
          this.#candidates.remove(candidate.path)
        }
        onTaken(taken)
      },
      onFree: () => this.#lookWakeUp.now(),
    })
    this.#events = folder.poll
      ? null
      : new FolderEvents({ root: folder.path, onHint: (path) => this.#hint(path), onLost: (code) => this.#lost(code) })
  }

  get folder(): WatchedFolder {
    return this.#options.folder
  }

  get view(): FolderView {
    const { group, path, out, failed, settings } = this.folder
    const reason = this.presence.reason ?? this.#scanFault
    return {
      ...{ group, path, out, failed, preset: settings.preset, reason },
      state: reason === null ? 'watching' : 'offline',
      noticedBy: this.#events === null || this.#events.isLost ? 'scans' : 'events',
      waitingFiles: this.#candidates.size,
      scannedMs: this.#scannedMs,
    }
  }

  /** True if it is offline, or its files cannot be listed. */
  get isAway(): boolean {
    return this.presence.reason !== null || this.#scanFault !== null
  }

  /** True if everything was taken except files that wait for their marker or a writer, or if nothing can be taken. */
  get isDrained(): boolean {
    if (this.isAway) return true
    if (this.#scannedMs === null) return false
    return [...this.#candidates.values()].every(
      ({ why, isBeingJudged }) => !isBeingJudged && (why === 'marker' || why === 'open'),
    )
  }

  start(): void {
    this.#running ??= Promise.all([this.#scanLoop(), this.#recheckLoop()])
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#scanWakeUp.now()
    this.#lookWakeUp.now()
    this.#events?.close()
    await this.#running
    await this.#mark.leave()
  }

  async #scanLoop(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const beganMs = performance.now()
      try {
        await this.#scan()
      } catch (thrown) {
        if (this.#stop.signal.aborted) return
        const { message } = toVoxmuxError(thrown)
        this.#say('scan', message)
        this.#setScanFault(`${this.folder.path} cannot be searched: ${message}`)
      }
      const tookMs = performance.now() - beganMs
      const gapMs = Math.max(SCAN_GAP_MS, 3 * tookMs)
      await this.#scanWakeUp.wait(Math.max(this.folder.scanMs, tookMs))
      // An event does not start a scan at once. A busy folder would be scanned without end.
      const restMs = Math.min(gapMs, this.folder.scanMs) - (performance.now() - beganMs - tookMs)
      if (restMs > 0) await sleep(restMs, this.#stop.signal).catch(() => {})
    }
  }

  async #scan(): Promise<void> {
    if (!(await this.presence.look())) return
    const present = new Set<string>()
    const folders = new Set([''])
    let isComplete = true
    const onPassedOver = (path: string, why: PassedOver) => {
      if (why === 'unreadable') isComplete = false
      this.#say(`${why} ${path}`, `${join(this.folder.path, path)} is skipped: ${PASSED_OVER[why]}.`)
    }
    const closed = await this.#closed()
    const { signal } = this.#stop
    const onAside = (path: string) => this.#restore(path)
    const options = { closed, takes: this.#filter, onPassedOver, onFolder: folders.add.bind(folders), onAside, signal }
    for await (const { path, facts } of scanFolder(this.folder.path, options)) {
      present.add(path)
      if (!this.#known.has(path, facts)) this.#candidates.see(path, facts, performance.now())
    }
    // A share that went away during the scan showed only a part of its files.
    if (!(await this.presence.look())) return
    this.#events?.cover(folders)
    for (const { path, isBeingJudged } of this.#candidates.values())
      if (isComplete && !present.has(path) && !isBeingJudged) await this.#recheck(path)
    if (isComplete && (await this.#known.compare(present))) this.#scanWakeUp.now()
    this.#scannedMs = Date.now()
    this.#setScanFault(null)
    this.#lookWakeUp.now()
  }

  /** The paths that are never entered, also where a link leads to them from elsewhere. */
  async #closed(): Promise<ReadonlySet<string>> {
    const { closed } = this.#options
    const root = await realPathOf(this.folder.path)
    const real = await Promise.all([...closed].map(async (path) => relative(root, await realPathOf(path))))
    const within = real.filter((path) => path !== '' && path !== '..' && !path.startsWith(`..${sep}`))
    return new Set([...closed, ...within.map((path) => join(this.folder.path, path))])
  }

  async #restore(path: string): Promise<void> {
    const { path: root, done } = this.folder
    try {
      await restoreAside(root, path, done)
    } catch (thrown) {
      const { message } = toVoxmuxError(thrown)
      this.#say(`aside ${path}`, `${join(root, path)} holds a file that could not get its name back: ${message}`)
    }
  }

  async #recheckLoop(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        await this.#followHints()
        await this.#recheckDue()
        await this.#fillJudge()
      } catch (thrown) {
        // The index of seen files fails at the moment, for example on a full disk.
        this.#say('recheck', toVoxmuxError(thrown).message)
      }
      const { size } = this.#candidates
      await this.#lookWakeUp.wait(size > 0 ? LOOK_MS + size * LOOK_MS_PER_FILE : IDLE_MS)
    }
  }

  async #recheckDue(): Promise<void> {
    for (const { path } of this.#candidates.due(performance.now())) {
      if (this.#stop.signal.aborted) return
      await this.#recheck(path)
    }
  }

  /** Takes settled files while there is room. With 20,000 files, each is checked only every ten seconds. */
  async #fillJudge(): Promise<void> {
    for (const { path } of this.#candidates.settled(performance.now())) {
      if (!this.#judge.hasRoom || this.#stop.signal.aborted) return
      await this.#recheck(path)
    }
  }

  async #followHints(): Promise<void> {
    const hints = [...this.#hints]
    this.#hints.clear()
    for (const path of hints) await this.#recheck(path)
  }

  /** Checks one file: new, changed, gone, or settled and ready to be judged. */
  async #recheck(path: string): Promise<void> {
    const { folder } = this
    const facts = await fileFacts(join(folder.path, path)).catch(() => null)
    // The share fails at the moment. The next scan will tell.
    if (facts === null) return
    if (facts === undefined || this.#known.has(path, facts)) return this.#candidates.remove(path)
    const nowMs = performance.now()
    const candidate = this.#candidates.see(path, facts, nowMs)
    const isStill = nowMs - candidate.settling.unchangedSinceMs >= this.#judgeMs
    if (isStill && nowMs >= candidate.judgeAtMs && this.presence.reason === null) this.#judge.judge(candidate)
  }

  #hint(path: string): void {
    const isFile = this.#filter(path)
    if (isFile && hasOneSpelling(path)) this.#hints.add(path)
    // Perhaps a folder: what is in it, a scan finds.
    else if (isFile || !/\.\w{1,9}$/.test(path)) this.#scanWakeUp.now()
    this.#lookWakeUp.now()
  }

  #skip({ path, settling }: Candidate): void {
    this.#known.addOutput(path, settling.facts)
    this.#candidates.remove(path)
    this.#say(
      'output',
      `${join(this.folder.path, path)} is skipped, as are others like it: its receipt says that voxmux made it.`,
    )
  }

  #setScanFault(fault: string | null): void {
    if (this.#scanFault === fault) return
    this.#scanFault = fault
    this.#options.onChange()
  }

  #lost(code: string): void {
    this.#options.logger.warn(
      { folder: this.folder.path, code },
      `No events for ${this.folder.path} (${code}): it is searched every ${this.folder.scanMs / 1000} s instead.`,
    )
    this.#options.onChange()
  }

  /** Logs once what every scan would repeat. */
  #say(key: string, text: string): void {
    if (this.#said.has(key) || this.#said.size > 1000) return
    this.#said.add(key)
    this.#options.logger.warn({ folder: this.folder.path }, text)
  }
}

/** False for `é`. HFS+ and some shares list it decomposed, and events have it as it was typed: two paths of one file. */
function hasOneSpelling(path: string): boolean {
  return path.normalize('NFC') === path.normalize('NFD')
}
