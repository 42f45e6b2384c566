import type { ServerResponse } from 'node:http'
import type { JobCount, Pause } from '../../../src/ledger/index.js'
import type { FolderView } from '../daemon-view.js'
import { type JobView, jobView, LISTS } from './job-view.js'
import type { OperatorView } from './operator-view.js'
import type { ProgressBoard } from './progress-board.js'
import { ownJobs } from './shown-jobs.js'

/** The part of the page above its lists. */
interface Overview {
  readonly folders: readonly FolderView[]
  readonly pauses: readonly Pause[]
  readonly counts: readonly JobCount[]
}

interface LiveFeedOptions {
  readonly view: OperatorView
  readonly progress: ProgressBoard
  /** Changes with every start, so that an open page notices that its token is outdated. */
  readonly bootId: string
  readonly onFault: (fault: unknown) => void
}

/** Pause between two checks of this process's progress, and the number of checks per request to the store. */
const LOOK_MS = 250
const LOOKS_PER_ASK = 4
/** Comments that keep proxies from closing a quiet connection. */
const LOOKS_PER_BEAT = 60
/** Most running jobs that the page lists by name. It shows only the number of the rest. */
const MOST_LIVE = 100
const MOST_CONNECTIONS = 32
/** Most unsent bytes of a slow client. Above that it is sent nothing until it has caught up, then the whole state. */
const MOST_BACKLOG_BYTES = 256 * 1024

/** Sends the whole state and then its changes to any number of pages, as server-sent events. */
export class LiveFeed {
  readonly #options: LiveFeedOptions
  /** Connections. `follows` is false for a page that needs the whole state again. */
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

  /** Keeps the response open and sends it everything from now on. False if too many pages are connected. */
  async connect(response: ServerResponse): Promise<boolean> {
    if (this.#clients.size >= MOST_CONNECTIONS) return false
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' })
    // The browser reconnects by itself after this time.
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

  /** Reads the store and sends what changed. While the store does not respond, the pauses say so and the rest stays. */
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

  /** The jobs of the store. Null if it does not respond, which is logged once. */
  async #found() {
    const { view, onFault } = this.#options
    try {
      const live = ownJobs(view, { statuses: LISTS.live, limit: MOST_LIVE })
      const [counts, jobs] = await Promise.all([view.jobs.counts(), live])
      this.#isFailing = false
      return { counts, jobs }
    } catch (fault) {
      if (!this.#isFailing) onFault(fault)
      this.#isFailing = true
      return null
    }
  }

  /** Adds the progress of this process to the jobs, and sends what changed. */
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
    const { bootId, view } = this.#options
    response.write(
      eventText('snapshot', { bootId, version: view.version, ...this.#overview, live: [...this.#live.values()] }),
    )
  }
}

function eventText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
