import type { ServerResponse } from 'node:http'
import type { JobCount, Pause } from '../../../src/ledger/index.js'
import type { FolderView } from '../daemon-view.js'
import { type JobView, jobView, LISTS } from './job-view.js'
import type { OperatorView } from './operator-view.js'
import type { ProgressBoard } from './progress-board.js'

/** What the page shows above its lists. */
export interface Overview {
  readonly folders: readonly FolderView[]
  readonly pauses: readonly Pause[]
  readonly counts: readonly JobCount[]
}

export interface LiveFeedOptions {
  readonly view: OperatorView
  readonly progress: ProgressBoard
  /** Changes with every start, so that an open page notices that its token is of the one before. */
  readonly bootId: string
  readonly onFault: (fault: unknown) => void
}

/** How often the progress of this process is looked at, and every how many looks the store is asked. */
const LOOK_MS = 250
const LOOKS_PER_ASK = 4
/** Comments that keep proxies from closing a quiet connection. */
const LOOKS_PER_BEAT = 60
/** Jobs in work that the page shows by name; of more it gives the number. */
const MOST_LIVE = 100
const MOST_CONNECTIONS = 32
/** Unsent bytes after which a slow client is told nothing more until it has caught up; then it gets everything anew. */
const MOST_BACKLOG_BYTES = 256 * 1024

/**
 * Tells any number of pages what changes, as server-sent events: the whole state on connect, differences afterwards.
 * It looks only while somebody listens.
 */
export class LiveFeed {
  readonly #options: LiveFeedOptions
  /** Connections, and whether each follows (or has to be given everything anew). */
  readonly #clients = new Map<ServerResponse, { follows: boolean }>()
  #overview: Overview = { folders: [], pauses: [], counts: [] }
  #live = new Map<string, JobView>()
  #timer: NodeJS.Timeout | undefined
  #looks = 0
  #looking = false
  #isFailing = false

  constructor(options: LiveFeedOptions) {
    this.#options = options
  }

  /** Keeps the response open and tells it everything from now on; false where too many listen already. */
  async connect(response: ServerResponse): Promise<boolean> {
    if (this.#clients.size >= MOST_CONNECTIONS) return false
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' })
    // The browser connects again by itself after so long.
    response.write('retry: 2000\n\n')
    const client = { follows: false }
    this.#clients.set(response, client)
    response.once('close', () => {
      this.#clients.delete(response)
      if (this.#clients.size === 0) this.#rest()
    })
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS)
    await this.#ask()
    this.#sendAll(response)
    return true
  }

  /** Ends every connection. */
  close(): void {
    this.#rest()
    for (const response of this.#clients.keys()) response.end()
    this.#clients.clear()
  }

  #rest(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      this.#looks++
      if (this.#looks % LOOKS_PER_ASK === 0) await this.#ask()
      else this.#follow([...this.#live.values()])
      if (this.#looks % LOOKS_PER_BEAT === 0) this.#send(': still here\n\n')
    } finally {
      this.#looking = false
    }
  }

  /** Asks the store, and tells what differs. While it does not answer, the pauses say so, and the rest stays as it was. */
  async #ask(): Promise<void> {
    const { view } = this.#options
    const [pauses, found] = await Promise.all([view.jobs.pauses(), this.#found()])
    const overview = { folders: view.daemon.folders, pauses, counts: found?.counts ?? this.#overview.counts }
    if (JSON.stringify(overview) !== JSON.stringify(this.#overview)) {
      this.#overview = overview
      this.#send(eventText('overview', overview))
    }
    if (found) this.#follow(found.jobs.map((job) => jobView(job)))
  }

  /** What the store says of jobs; null, and a word at the first time, where it says nothing. */
  async #found() {
    const { view, onFault } = this.#options
    try {
      const live = view.jobs.list({ statuses: LISTS.live, limit: MOST_LIVE })
      const [counts, jobs] = await Promise.all([view.jobs.counts(), live])
      this.#isFailing = false
      return { counts, jobs }
    } catch (fault) {
      if (!this.#isFailing) onFault(fault)
      this.#isFailing = true
      return null
    }
  }

  /** Lays the progress of this process over the jobs, and tells what differs. */
  #follow(jobs: readonly JobView[]): void {
    const live = new Map(
      jobs.map((job) => {
        const { stage = null, percent = null } = this.#options.progress.get(job.id) ?? {}
        return [job.id, { ...job, stage, percent }]
      }),
    )
    const changed = [...live.values()].filter((job) => JSON.stringify(job) !== JSON.stringify(this.#live.get(job.id)))
    const gone = [...this.#live.keys()].filter((id) => !live.has(id))
    this.#live = live
    if (changed.length > 0 || gone.length > 0) this.#send(eventText('live', { changed, gone }))
  }

  #send(text: string): void {
    for (const [response, client] of this.#clients) {
      if (!client.follows) continue
      response.write(text)
      if (response.writableLength <= MOST_BACKLOG_BYTES) continue
      client.follows = false
      response.once('drain', () => this.#sendAll(response))
    }
  }

  #sendAll(response: ServerResponse): void {
    const client = this.#clients.get(response)
    if (!client) return
    client.follows = true
    const { bootId } = this.#options
    response.write(eventText('snapshot', { bootId, ...this.#overview, live: [...this.#live.values()] }))
  }
}

function eventText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
