import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { Metrics } from '../../../../plugins/watch-folder/metrics/metrics.js'
import { jobBench } from '../../../helpers/job-bench.js'
import { folderOfEachTest } from '../../../helpers/system/folder-of-tests.js'
import { withService } from '../../../service/support/with-service.js'
import { failedJob, folderView, StagedDaemon } from '../dashboard/dashboard-bench.js'

const path = (name: string) =>
  fileURLToPath(new URL(`../../../../plugins/watch-folder/deploy/monitoring/${name}`, import.meta.url))
const RULES = path('voxmux.rules.yml')
const dashboard = JSON.parse(readFileSync(path('grafana.json'), 'utf8'))
const expressions: readonly string[] = dashboard.panels.flatMap(
  ({ targets }: { targets: readonly { expr: string }[] }) =>
    targets.map(({ expr }) => expr.replaceAll('$instance', '.*')),
)
const MISSING = spawnSync('promtool', ['--version']).status === 0 ? '' : ' (skipped: promtool is not installed)'

/** @returns what it complains about */
function promtool(args: readonly string[], input?: string): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8', input })
  return status === 0 ? '' : `${stdout}${stderr}`
}

/** An alert at a time, after series of one sample a minute. */
const alertTest = (alert: string, time: string, series: Readonly<Record<string, string>>, labels: object) => ({
  interval: '1m',
  input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
  alert_rule_test: [{ alertname: alert, eval_time: time, exp_alerts: [{ exp_labels: labels }] }],
})

describe('the files for Prometheus and Grafana', () => {
  const bench = jobBench()
  const folder = folderOfEachTest()

  /** The metrics of a daemon that has seen everything. */
  async function daemonMetrics(): Promise<string> {
    const metrics = new Metrics()
    const daemon = new StagedDaemon()
    daemon.folders = [folderView('/in/a', { group: 'a' })]
    const { jobs, spending } = bench.pipeline.context
    await failedJob({ jobs }, 'a', '/in/a/1')
    metrics.follow({ version: '1.2.3', jobs, spending, daemon })
    const job = { id: '1', input: '/in/a/1' }
    const error = { code: 'ERR_UNREADABLE', errorCode: -2, name: null, message: 'bad', remedies: [] } as const
    daemon.tell({ event: 'progress', ...job, stage: 'plan', percent: 100 })
    daemon.tell({ event: 'file', ...job, output: null, receipt: null, status: 'failed', error })
    metrics.meter.onRequest('startProcess')
    return metrics.metrics()
  }

  it.skipIf(MISSING)(`promtool finds nothing in the metrics of daemon and service${MISSING}`, async () => {
    const { baseUrl } = await withService({ serveOnly: true })
    await fetch(`${baseUrl}/api/v1/limits`)
    expect(promtool(['check', 'metrics'], await daemonMetrics())).toBe('')
    expect(promtool(['check', 'metrics'], await (await fetch(`${baseUrl}/metrics`)).text())).toBe('')
  })

  it.skipIf(MISSING)(`promtool takes the rules, and they fire${MISSING}`, async () => {
    const warning = { severity: 'warning' }
    const at = { instance: 'a' }
    const failed = 'voxmux_jobs_ended_total{instance="a",status="failed"}'
    const tests = [
      alertTest(
        'VoxmuxDown',
        '6m',
        { 'up{job="voxmux",instance="a"}': '0x10' },
        {
          ...at,
          ...{ job: 'voxmux', severity: 'critical' },
        },
      ),
      alertTest(
        'VoxmuxFolderOffline',
        '6m',
        { 'voxmux_folder_watched{folder="/in",state="offline"}': '0x10' },
        {
          ...warning,
          ...{ folder: '/in', state: 'offline' },
        },
      ),
      alertTest('VoxmuxPaused', '16m', { 'voxmux_pauses{instance="a"}': '1x20' }, { ...warning, ...at }),
      alertTest('VoxmuxFilesFailed', '10m', { [failed]: '0x5 1x10' }, { ...warning, ...at, status: 'failed' }),
      alertTest(
        'VoxmuxQueueStands',
        '125m',
        { 'voxmux_queue_depth{instance="a",folder="/in"}': '3x130', [failed]: '0x130' },
        {
          ...warning,
          ...at,
        },
      ),
      alertTest(
        'VoxmuxRetries',
        '50m',
        { 'voxmux_retries_total{instance="a",of="job"}': '0+1x60' },
        { ...warning, ...at },
      ),
      alertTest(
        'VoxmuxServiceErrors',
        '40m',
        { 'voxmux_service_responses_total{instance="a",status="503"}': '0+1x60' },
        {
          ...warning,
          ...at,
        },
      ),
    ]
    expect(promtool(['check', 'rules', RULES])).toBe('')
    // The annotations are text for people, and repeating them here would prove nothing.
    const rules = readFileSync(RULES, 'utf8').replace(/ {8}annotations:\n( {10}.*\n)*/g, '')
    const names = [...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name)
    expect(tests.map(({ alert_rule_test: [test] }) => test?.alertname)).toEqual(names)
    await writeFile(folder.file('rules.yml'), rules)
    // JSON is YAML.
    await writeFile(folder.file('test.yml'), JSON.stringify({ rule_files: ['rules.yml'], tests }))
    expect(promtool(['test', 'rules', folder.file('test.yml')])).toBe('')
  })

  it.skipIf(MISSING)(`Prometheus reads each query of the dashboard${MISSING}`, async () => {
    const rules = expressions.map((expr, index) => ({ record: `panel:${index}`, expr }))
    await writeFile(folder.file('rules.yml'), JSON.stringify({ groups: [{ name: 'panels', rules }] }))
    expect(promtool(['check', 'rules', folder.file('rules.yml')])).toBe('')
  })

  it('use metrics that are there', async () => {
    const { baseUrl } = await withService({ serveOnly: true })
    const known = (await daemonMetrics()) + (await (await fetch(`${baseUrl}/metrics`)).text())
    const rules = [...readFileSync(RULES, 'utf8').matchAll(/expr: (.+)/g)].map(([, expr]) => expr)
    const used = [...rules, ...expressions].flatMap(
      (expr) => String(expr).match(/\b(voxmux|process|nodejs)_\w+/g) ?? [],
    )
    expect(used.length).toBeGreaterThan(15)
    for (const name of used) expect(known).toContain(`# TYPE ${name.replace(/_bucket$/, '')} `)
  })
})
