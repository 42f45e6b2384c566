import { describe, expect, it } from 'vitest'
import { Metrics, StageClock } from '../../../../plugins/watch-folder/metrics/metrics.js'
import { jobBench } from '../../../helpers/job-bench.js'
import { failedJob, folderView, StagedDaemon } from '../dashboard/dashboard-bench.js'

const bench = jobBench()

async function staged() {
  const metrics = new Metrics()
  const daemon = new StagedDaemon()
  daemon.folders = [
    folderView('/in/a', { group: 'a', waitingFiles: 3 }),
    folderView('/in/"b"\n', { group: 'b', state: 'offline' }),
  ]
  const { jobs, spending } = bench.pipeline.context
  metrics.follow({ version: '1.2.3', jobs, spending, daemon })
  return { metrics, daemon, jobs, spending, text: () => metrics.metrics() }
}

describe('the metrics', () => {
  it('say how the jobs stand, by folder', async () => {
    const { jobs, text } = await staged()
    await jobs.enqueue({ key: '1', group: 'a', input: '/in/a/1' })
    await jobs.enqueue({ key: '2', group: 'a', input: '/in/a/2' })
    await failedJob({ jobs }, 'b', '/in/b/3')
    await jobs.pause(null, 'no credits')
    const said = await text()
    expect(said).toContain('voxmux_jobs{folder="/in/a",status="queued"} 2')
    expect(said).toContain('voxmux_jobs{folder="/in/\\"b\\"\\n",status="rejected"} 1')
    expect(said).toContain('voxmux_queue_depth{folder="/in/a"} 2')
    expect(said).toContain('voxmux_queue_depth{folder="/in/\\"b\\"\\n"} 0')
    expect(said).toContain('voxmux_folder_watched{folder="/in/a",state="watching"} 1')
    expect(said).toContain('voxmux_folder_watched{folder="/in/\\"b\\"\\n",state="offline"} 0')
    expect(said).toContain('voxmux_arriving_files{folder="/in/a"} 3')
    expect(said).toContain('voxmux_pauses 1')
    expect(said).toContain(`voxmux_build_info{version="1.2.3",node="${process.versions.node}"} 1`)
    expect(said).toMatch(/nodejs_eventloop_lag_p99_seconds \d/)
    expect(said).toMatch(/process_resident_memory_bytes \d/)
    await jobs.requeue((await jobs.getByKey('/in/b/3'))?.id ?? '')
    expect(await text()).not.toMatch(/^voxmux_jobs\{.*status="rejected"/m)
  })

  it('count a pause of all or of a folder of its own, and none of another daemon', async () => {
    const { jobs, text } = await staged()
    await jobs.pause('another daemon’s', 'offline: not ours')
    expect(await text()).toContain('voxmux_pauses 0')
    await jobs.pause('b', 'offline: ours')
    await jobs.pause(null, 'no credits')
    expect(await text()).toContain('voxmux_pauses 2')
  })

  it('say what was spent on this day', async () => {
    const { spending, text } = await staged()
    await spending.commit('a file', 12.5)
    await spending.reserve('another file', 3, { maxSecondsPerDay: null })
    const said = await text()
    expect(said).toContain('voxmux_spent_seconds{state="paid"} 12.5')
    expect(said).toContain('voxmux_spent_seconds{state="reserved"} 3')
  })

  it('count what ended, failed and was put off, and the time of stages', async () => {
    const { daemon, text } = await staged()
    const job = { id: '1', input: '/in/a/1' }
    const error = { errorCode: null, name: null, message: 'down', remedies: [] }
    for (const stage of ['plan', 'cut', 'mux'] as const) daemon.tell({ event: 'progress', ...job, stage, percent: 100 })
    const end = { ...job, event: 'file', output: null, receipt: null } as const
    daemon.tell({ ...end, status: 'pending', error: { ...error, code: 'ERR_SERVICE_UNREACHABLE' } })
    daemon.tell({ ...end, status: 'pending', error: { ...error, code: 'ERR_INTERRUPTED' } })
    daemon.tell({ ...end, status: 'rejected', error: { ...error, code: 'ERR_SEVERAL_TRACKS', errorCode: -8 } })
    daemon.tell({ ...end, status: 'done', error: null })
    const said = await text()
    expect(said).toContain('voxmux_errors_total{code="ERR_SERVICE_UNREACHABLE",error_code=""} 1')
    expect(said).toContain('voxmux_errors_total{code="ERR_SEVERAL_TRACKS",error_code="-8"} 1')
    expect(said).not.toContain('ERR_INTERRUPTED')
    expect(said).toContain('voxmux_retries_total{of="job"} 1')
    expect(said).toContain('voxmux_jobs_ended_total{status="done"} 1')
    expect(said).toContain('voxmux_jobs_ended_total{status="rejected"} 1')
    expect(said).toContain('voxmux_stage_seconds_count{stage="mux"} 1')
  })

  it('count the traffic of a client', async () => {
    const { metrics, text } = await staged()
    metrics.meter.onRequest('getFilesStatus')
    metrics.meter.onRequest('startProcess')
    metrics.meter.onRepeat('startProcess')
    metrics.meter.onBytesSent(1000)
    metrics.meter.onBytesReceived(400)
    const said = await text()
    expect(said).toContain('voxmux_service_requests_total{operation="startProcess"} 1')
    expect(said).toContain('voxmux_poll_requests_total 1')
    expect(said).toContain('voxmux_retries_total{of="request"} 1')
    expect(said).toContain('voxmux_bytes_total{direction="sent"} 1000')
    expect(said).toContain('voxmux_bytes_total{direction="received"} 400')
  })

  it('are of a registry of their own', async () => {
    const [one, other] = [await staged(), await staged()]
    one.metrics.meter.onBytesSent(1)
    expect(await other.text()).toContain('voxmux_bytes_total{direction="sent"} 0')
  })
})

describe('the clock of stages', () => {
  it('counts a stage from the last word before it to its own last, over all parts', () => {
    const measured: [string, number][] = []
    let nowMs = 0
    const clock = new StageClock(
      (stage, sec) => measured.push([stage, sec]),
      () => nowMs,
    )
    const tell = (atMs: number, stage: 'plan' | 'cut' | 'upload' | 'process' | 'verify', percent: number) => {
      nowMs = atMs
      clock.take({ event: 'progress', id: 'a', input: '/a', stage, percent })
    }
    tell(0, 'plan', 100)
    tell(1000, 'cut', 50)
    tell(2000, 'cut', 100)
    tell(3000, 'upload', 50)
    tell(4000, 'process', 20)
    tell(5000, 'upload', 100)
    tell(9000, 'process', 100)
    tell(12_000, 'verify', 100)
    clock.take({ event: 'file', id: 'a', input: '/a', status: 'done', output: null, receipt: null, error: null })
    expect(measured).toEqual([
      ['plan', 0],
      ['cut', 2],
      ['upload', 3],
      ['process', 6],
      ['verify', 3],
    ])
  })
})
