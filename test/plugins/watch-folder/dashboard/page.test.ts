import { readFile, rename } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { runJob } from '../../../../src/pipeline/job/run-job.js'
import { jobBench } from '../../../helpers/job-bench.js'
import { NO_CHROMIUM, openChromium } from '../../../helpers/system/chromium.js'
import { isAccessible } from '../../../helpers/system/is-accessible.js'
import { requestFor } from '../../../helpers/test-pipeline.js'
import { enqueueAll } from '../../../ledger/store-fixture.js'
import { failedJob, folderView, type StagedDashboard, stageDashboard } from './dashboard-bench.js'

const NASTY = '<img src=x onerror=alert(1)>\n"&\u202egpj.wav'

describe.skipIf(NO_CHROMIUM)(`the page of the dashboard${NO_CHROMIUM ? ` (skipped: ${NO_CHROMIUM})` : ''}`, () => {
  const bench = jobBench()
  let browser: Browser
  let staged: StagedDashboard
  let page: Page
  const faults: string[] = []
  const asked: string[] = []

  beforeAll(async () => {
    browser = await openChromium()
  })
  afterAll(async () => {
    await browser.close()
  })
  beforeEach(async () => {
    staged = await stageDashboard(bench.pipeline.context.jobs, bench.folder.path)
    staged.daemon.folders = [
      folderView('/mnt/nas/dailies', { group: 'test', waitingFiles: 2 }),
      folderView('/mnt/nas/podcasts', {
        state: 'offline',
        reason: 'The folder is not there: is the share mounted?',
        preset: 'podcast',
      }),
    ]
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    faults.length = 0
    asked.length = 0
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
    page.on('request', (request) => asked.push(request.url()))
  })
  afterEach(async () => {
    await page.close()
    await staged.dashboard.close()
  })

  /** Not `waitForFunction`: the page's policy forbids what that evaluates in it. */
  const comesTrue = (expression: string) =>
    vi.waitFor(async () => expect(await page.evaluate(expression)).toBe(true), { timeout: 30_000, interval: 100 })

  it('shows folders, a job that goes live, and what stops the intake, without being asked again', async () => {
    const { jobs } = bench.pipeline.context
    await page.goto(staged.dashboard.url)
    await page.getByText('1 folder offline').waitFor()
    await page.getByText('is the share mounted?').waitFor()
    await page.getByText('No job is in progress.').waitFor()

    const { job } = await jobs.enqueue({ key: 'a', group: 'test', input: `/mnt/nas/dailies/${NASTY}` })
    const claim = await jobs.claim('a')
    if (claim.outcome !== 'claimed') throw new Error(claim.outcome)
    staged.daemon.tell({ event: 'progress', id: job.id, input: job.input, stage: 'upload', percent: 40 })
    await page.getByText('Uploading 40 %').waitFor()
    await page.clock.setFixedTime(Date.now() + 10_000)
    staged.daemon.tell({ event: 'progress', id: job.id, input: job.input, stage: 'upload', percent: 60 })
    await page.getByText(/Uploading 60 %, 0:2\d left in this step/).waitFor()
    // The bar counts stages, so that it goes on and on.
    const bar = page.getByRole('progressbar')
    expect(Number(await bar.getAttribute('value'))).toBeCloseTo((4.6 / 12) * 100, 3)
    staged.daemon.tell({ event: 'progress', id: job.id, input: job.input, stage: 'mux', percent: 10 })
    await page.getByText('Writing 10 %').waitFor()
    await jobs.pause(null, `The account has no credits left (-10): ${'x'.repeat(300)}`)
    await page.getByRole('alert').getByText('no credits left').waitFor()
    await isAccessible(page, 'dashboard-live')

    await jobs.complete(claim.lease, { status: 'done' })
    await page.getByText('No job is in progress.').waitFor()
    // Whatever a file is called, its name is text.
    await page.getByRole('link', { name: '<img src=x onerror=alert(1)>\\u000a"&\\u202egpj.wav' }).waitFor()
    expect(await page.locator('img[src=x]').count()).toBe(0)
    await jobs.resume(null)
    await page.getByText('no credits left').waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })

  it('says why a file failed and what can be done, and tries it again by keyboard', async () => {
    const ledger = { jobs: bench.pipeline.context.jobs }
    const job = await failedJob(ledger, 'test', '/mnt/nas/dailies/scene 12 take 3.mkv')
    await failedJob(ledger, 'test', '/mnt/nas/dailies/interview.mov')
    await page.goto(staged.dashboard.url)
    await page.getByRole('tab', { name: 'Failed 2' }).waitFor()
    await page.getByRole('tab', { name: /Finished/ }).focus()
    await page.keyboard.press('ArrowRight')
    await page.getByText('MultiTrackAudioNotSupported').first().waitFor()
    const remedy = 'In the preset of the folder: choose one with "track": N, "track": "default" or "track": "lang:xxx".'
    await page.getByText(remedy).first().waitFor()
    await page.getByText('Fix the cause, then press Try again.').first().waitFor()
    await isAccessible(page, 'dashboard-failed')
    const button = page.getByRole('button', { name: 'Try again: scene 12 take 3.mkv' })
    await button.focus()
    await page.keyboard.press('Enter')
    await page.getByText('scene 12 take 3.mkv is back in the queue.').waitFor()
    await button.waitFor({ state: 'detached' })
    expect((await ledger.jobs.get(job.id))?.status).toBe('queued')
    expect(staged.retried.map(({ id }) => id)).toEqual([job.id])
    await page.getByRole('tab', { name: 'Failed 1' }).waitFor()
    await page.getByRole('tab', { name: 'Waiting 1' }).waitFor()
    expect(faults).toEqual([])
  })

  it('finds jobs by a part of their path, and forgets a failed one', async () => {
    const ledger = { jobs: bench.pipeline.context.jobs }
    const names = ['100%_take.mkv', '1000 takes.mkv', 'Interview.mov']
    for (const name of names) await failedJob(ledger, 'test', `/mnt/nas/dailies/${name}`)
    await page.goto(staged.dashboard.url)
    await page.getByRole('tab', { name: 'Failed 3' }).click()
    const links = page.locator('#job-list').getByRole('link')
    const finds = (search: string, found: readonly string[]) =>
      page
        .getByLabel('Path contains')
        .fill(search)
        .then(() => vi.waitFor(async () => expect((await links.allTextContents()).sort()).toEqual(found)))
    await finds('0%_', ['100%_take.mkv'])
    await finds('INTERVIEW', ['Interview.mov'])
    await finds('nothing', [])
    await page.getByText('No path contains this.').waitFor()
    await finds('interview', ['Interview.mov'])
    await page.getByRole('button', { name: 'Forget Interview.mov' }).click()
    await page.getByText('Interview.mov is forgotten.').waitFor()
    await page.getByRole('tab', { name: 'Failed 2' }).waitFor()
    expect(await ledger.jobs.list({ inputPart: 'nterview' })).toEqual([])
    expect(faults).toEqual([])
  })

  it('opens a finished job: before and after to hear and see, and its receipt', async () => {
    const input = bench.folder.file(NASTY)
    await rename(await bench.take('speech.wav'), input)
    bench.answerWith('-af', 'volume=0.5')
    const { event } = await runJob(requestFor(input, { report: true }), bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null })
    await page.goto(staged.dashboard.url)
    await page.getByRole('link', { name: /onerror/ }).press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Verified full').waitFor()
    const link = await dialog.getByRole('link', { name: 'Download' }).getAttribute('href')
    const saved = await fetch(new URL(String(link), staged.dashboard.url))
    expect(saved.headers.get('content-disposition')).toMatch(/^attachment; filename\*=UTF-8''/)
    expect(Buffer.from(await saved.arrayBuffer()).equals(await readFile(String(event.output)))).toBe(true)
    await dialog.getByRole('button', { name: 'Play' }).waitFor()
    const media = (what: string) => page.evaluate(`[...document.querySelectorAll('audio')].map((one) => ${what})`)
    await comesTrue('[...document.querySelectorAll("audio")].every((one) => one.readyState >= 1)')
    const [before, after] = (await media('one.duration')) as [number, number]
    expect(before).toBeGreaterThan(1)
    expect(after).toBeCloseTo(before, 1)
    // By keyboard alone: to a second in, then the other side, which goes on from there.
    await dialog.locator('[type=range]').fill('1')
    await dialog.getByRole('radio', { name: 'After' }).focus()
    await page.keyboard.press('ArrowLeft')
    expect(await dialog.getByRole('radio', { name: 'Before' }).isChecked()).toBe(true)
    expect(((await media('one.currentTime')) as number[])[0]).toBeCloseTo(1, 1)
    await dialog.getByRole('img', { name: 'Before: waveform' }).waitFor()
    await comesTrue('[...document.querySelectorAll("img")].every((one) => one.naturalWidth > 0)')
    await isAccessible(page, 'dashboard-job')
    await dialog.getByRole('button', { name: 'Play' }).press('Enter')
    await dialog.getByRole('button', { name: 'Pause' }).waitFor()

    const id = event.id
    const part = await page.request.get(`${staged.dashboard.url}api/jobs/${id}/comparison/0/after/audio`, {
      headers: { range: 'bytes=4-7' },
    })
    expect([part.status(), (await part.body()).toString()]).toEqual([206, 'ftyp'])
    const report = await page.request.get(`${staged.dashboard.url}api/jobs/${id}/report`)
    expect(report.headers()['content-security-policy']).toMatch(/^sandbox allow-scripts;/)

    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await comesTrue('location.hash === ""')
    expect(asked.filter((url) => !url.startsWith(staged.dashboard.url))).toEqual([])
    expect(faults).toEqual([])
  })

  it('counts and lists its own folders, others under a filter, and pauses and resumes one', async () => {
    const { jobs } = bench.pipeline.context
    staged.daemon.folders = [folderView('/mnt/nas/dailies', { group: 'test' })]
    await failedJob({ jobs }, 'test', '/mnt/nas/dailies/broken.mov')
    await jobs.enqueue({ key: 'theirs', group: 'run', input: '/home/someone/theirs.mov' })
    await jobs.pause('elsewhere', 'Offline.')
    await page.goto(staged.dashboard.url)
    await page.getByText('Watching 1 folder').waitFor()
    await page.getByText('voxmux 1.2.3 ·').waitFor()
    await page.getByRole('tab', { name: 'Failed 1' }).waitFor()
    expect(await page.locator('[data-name=failed] dd').textContent()).toBe('1')
    await page.getByRole('tab', { name: 'Waiting' }).click()
    await page.getByText('No file is waiting.').waitFor()
    await page.getByLabel('Folder', { exact: true }).selectOption('Everything in the store')
    await page.getByRole('tab', { name: 'Waiting 1' }).waitFor()
    await page.getByText('Waits for a process that works on run').waitFor()

    await page.getByRole('button', { name: 'Pause /mnt/nas/dailies' }).click()
    await page.getByText('1 folder paused').waitFor()
    expect(await jobs.pauses()).toMatchObject([{ group: 'elsewhere' }, { group: 'test' }])
    await page.getByRole('button', { name: 'Resume /mnt/nas/dailies' }).click()
    await page.getByText('Watching 1 folder').waitFor()
    expect(faults).toEqual([])
  })

  const many = process.env.VOXMUX_SOAK ? 10_000 : 1100
  it(`stays quick with ${many} jobs, a page of them at a time`, async () => {
    const { jobs } = bench.pipeline.context
    await enqueueAll(
      jobs,
      Array.from({ length: many }, (_, n) => ({
        key: `k${n}`,
        group: 'test',
        input: `/mnt/nas/dailies/clip-${n}.mov`,
      })),
    )
    await page.goto(staged.dashboard.url)
    await page.getByRole('tab', { name: `Waiting ${many.toLocaleString('en')}` }).click()
    await page.getByText(`clip-${many - 1}.mov`).waitFor()
    expect(await page.locator('.job').count()).toBe(50)
    await page.getByRole('button', { name: 'Older' }).press('Enter')
    await page.getByText(`clip-${many - 51}.mov`).waitFor()
    expect(await page.getByText('Page 2').isVisible()).toBe(true)
    await page.getByRole('button', { name: 'Newer' }).press('Enter')
    await page.getByText(`clip-${many - 1}.mov`).waitFor()
    // In short the list of failed jobs is looked at, above.
    if (process.env.VOXMUX_SOAK) await isAccessible(page, 'dashboard-many')
    expect(faults).toEqual([])
  })

  it('says that the connection is gone, and goes on by itself when the daemon is back', async () => {
    await page.goto(staged.dashboard.url)
    await page.getByText('1 folder offline').waitFor()
    const port = Number(new URL(staged.dashboard.url).port)
    await staged.dashboard.close()
    await page.getByText('Connection lost, retrying').waitFor()
    staged = await stageDashboard(bench.pipeline.context.jobs, bench.folder.path, { port })
    staged.daemon.folders = [folderView('/mnt/nas/dailies')]
    await page.getByText('Watching 1 folder').waitFor()
  })
})
