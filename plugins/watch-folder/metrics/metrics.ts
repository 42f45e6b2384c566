import { performance } from 'node:perf_hooks'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { TrafficMeter } from '../../../src/client/index.js'
import type { JobEvent, Stage } from '../../../src/pipeline/events.js'
import { ownPauses, withinPatience } from '../dashboard/shown-jobs.js'
import type { GaugeSources } from './gauge-sources.js'

/** A two-hour film over a slow line falls into the upper half. */
const STAGE_BUCKETS_SEC = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600, 1800, 7200]
const POLL_OPERATION = 'getFilesStatus'
/** Sums of Node with the suffix that Prometheus reserves for counters. They can fall, so they are not counters. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/** All metrics, in a registry of their own, without what else runs in the process. */
export class Metrics {
  readonly #registry = new Registry()
  /** Give it to the client: it counts requests, retries and bytes. */
  readonly meter: TrafficMeter
  readonly #stageSeconds: Histogram<'stage'>
  readonly #ended: Counter<'status'>
  readonly #errors: Counter<'code' | 'error_code'>
  readonly #retries: Counter<'of'>
  #clock: StageClock | undefined
  #leave: (() => void) | undefined

  constructor() {
    // Memory, processor time, open files, and the delay of the event loop since the last scrape (perf_hooks).
    collectDefaultMetrics({ register: this.#registry })
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name)
    this.#stageSeconds = new Histogram({
      ...{ name: 'voxmux_stage_seconds', help: 'Time that a stage of a job took.', labelNames: ['stage'] },
      ...{ buckets: STAGE_BUCKETS_SEC, registers: [this.#registry] },
    })
    this.#ended = this.#counter('voxmux_jobs_ended_total', 'Jobs that ended here, by how.', ['status'])
    // A series that begins with its first file would hide this file from `increase`.
    for (const status of ['done', 'skipped', 'failed', 'rejected']) this.#ended.inc({ status }, 0)
    const failures = 'Failures of jobs, transient ones too, by code.'
    this.#errors = this.#counter('voxmux_errors_total', failures, ['code', 'error_code'])
    const retries = 'Jobs put off after a passing fault, requests repeated.'
    this.#retries = this.#counter('voxmux_retries_total', retries, ['of'])
    this.meter = this.#trafficMeter()
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** All metrics at this moment, as Prometheus reads them. */
  metrics(): Promise<string> {
    return this.#registry.metrics()
  }

  follow(sources: GaugeSources): void {
    addDaemonGauges(this.#registry, sources)
    this.#clock = new StageClock((stage, sec) => this.#stageSeconds.observe({ stage }, sec))
    this.#leave = sources.daemon.subscribe((event) => {
      if (event.event === 'progress' || event.event === 'file') this.#take(event)
    })
  }

  close(): void {
    this.#leave?.()
    this.#registry.clear()
  }

  #take(event: JobEvent): void {
    this.#clock?.take(event)
    if (event.event === 'progress') return
    const { status, error } = event
    if (error && error.code !== 'ERR_INTERRUPTED')
      this.#errors.inc({ code: error.code, error_code: error.errorCode ?? '' })
    if (status !== 'pending') this.#ended.inc({ status })
    else if (error && error.code !== 'ERR_INTERRUPTED') this.#retries.inc({ of: 'job' })
  }

  #counter<Label extends string>(name: string, help: string, labelNames: readonly Label[] = []): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] })
  }

  #trafficMeter(): TrafficMeter {
    const asked = 'Requests to the service and its storage.'
    const requests = this.#counter('voxmux_service_requests_total', asked, ['operation'])
    const polls = this.#counter('voxmux_poll_requests_total', 'Questions for the status of files, up to 100 in each.')
    const bytes = this.#counter('voxmux_bytes_total', 'Bytes of voice moved to and from the service.', ['direction'])
    for (const direction of ['sent', 'received']) bytes.inc({ direction }, 0)
    for (const of of ['job', 'request']) this.#retries.inc({ of }, 0)
    return {
      onRequest: (operation) => {
        requests.inc({ operation })
        if (operation === POLL_OPERATION) polls.inc()
      },
      onRepeat: () => this.#retries.inc({ of: 'request' }),
      onBytesSent: (count) => bytes.inc({ direction: 'sent' }, count),
      onBytesReceived: (count) => bytes.inc({ direction: 'received' }, count),
    }
  }
}

interface StageTime {
  readonly startMs: number
  readonly endMs: number
}

interface RunningJob {
  lastMs: number
  readonly stages: Map<Stage, StageTime>
}

/**
 * Measures the stages of jobs by their events. Many stages report only their end, so a stage lasts from the last event
 * before its first one to its own last one. Overlapping stages of several parts are measured over all parts.
 */
export class StageClock {
  readonly #onStage: (stage: Stage, sec: number) => void
  readonly #nowMs: () => number
  readonly #jobs = new Map<string, RunningJob>()

  /** @param onStage called for every stage of a job, when the job ends or is deferred */
  constructor(onStage: (stage: Stage, sec: number) => void, nowMs: () => number = () => performance.now()) {
    this.#onStage = onStage
    this.#nowMs = nowMs
  }

  take(event: JobEvent): void {
    const nowMs = this.#nowMs()
    if (event.event === 'file') {
      for (const [stage, { startMs, endMs }] of this.#jobs.get(event.id)?.stages ?? [])
        this.#onStage(stage, (endMs - startMs) / 1000)
      this.#jobs.delete(event.id)
      return
    }
    const job = this.#jobs.get(event.id) ?? { lastMs: nowMs, stages: new Map() }
    const known = job.stages.get(event.stage)
    job.stages.set(event.stage, { startMs: known?.startMs ?? job.lastMs, endMs: nowMs })
    job.lastMs = nowMs
    this.#jobs.set(event.id, job)
  }
}

/** Adds the gauges of jobs, spending, folders and pauses, read at every scrape; without the first two while the store is away. */
function addDaemonGauges(registry: Registry, { version, jobs, spending, daemon }: GaugeSources): void {
  const folderOf = (group: string) => daemon.folders.find((folder) => folder.group === group)?.path ?? group
  const add = gaugesOf(registry)
  add('voxmux_build_info', 'Running version of voxmux and Node; always 1.', ['version', 'node'], (gauge) => {
    gauge.set({ version, node: process.versions.node }, 1)
  })
  add('voxmux_jobs', 'Jobs in the store, by folder and status.', ['folder', 'status'], async (gauge) => {
    const counts = await jobs.counts().catch(() => [])
    for (const { group, status, count } of counts) gauge.inc({ folder: folderOf(group), status }, count)
  })
  add('voxmux_queue_depth', 'Jobs that wait for their turn.', ['folder'], async (gauge) => {
    const counts = await jobs.counts().catch(() => null)
    if (counts === null) return
    for (const { path } of daemon.folders) gauge.set({ folder: path }, 0)
    for (const { group, status, count } of counts)
      if (status === 'queued') gauge.inc({ folder: folderOf(group) }, count)
  })
  add('voxmux_spent_seconds', 'Seconds of voice of this day (UTC), paid for or reserved.', ['state'], async (gauge) => {
    const spent = await withinPatience(spending.spent()).catch(() => null)
    if (spent === null) return
    gauge.set({ state: 'paid' }, spent.committedSec)
    gauge.set({ state: 'reserved' }, spent.reservedSec)
  })
  const watched = '1 while the folder is watched, 0 offline or paused.'
  add('voxmux_folder_watched', watched, ['folder', 'state'], (gauge) => {
    for (const { path, state } of daemon.folders) gauge.set({ folder: path, state }, state === 'watching' ? 1 : 0)
  })
  add('voxmux_arriving_files', 'Files that are there and not whole yet.', ['folder'], (gauge) => {
    for (const { path, waitingFiles } of daemon.folders) gauge.set({ folder: path }, waitingFiles)
  })
  add('voxmux_pauses', 'Reasons for which nothing new is taken, of one folder or of all.', [], async (gauge) => {
    gauge.set((await ownPauses(jobs, daemon)).length)
  })
}

/** Adds gauges to a registry. Each is emptied and filled again at every scrape. */
function gaugesOf(registry: Registry) {
  return <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    fill: (gauge: Gauge<Label>) => void | Promise<void>,
  ) => {
    const collect = function (this: Gauge<Label>) {
      this.reset()
      return fill(this)
    }
    new Gauge({ ...{ name, help, labelNames }, registers: [registry], collect })
  }
}
