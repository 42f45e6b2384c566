import { execFileSync } from 'node:child_process'
import { lstat, readdir, readFile, rename } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { readReceipt } from '../../src/pipeline/output/receipt.js'
import { compareTracks } from '../../src/pipeline/report/comparison.js'
import { jobBench } from '../helpers/job-bench.js'
import { ffmpeg, ffprobeJson } from '../helpers/media-factory.js'
import { NO_CHROMIUM, openChromium } from '../helpers/system/chromium.js'
import { isAccessible } from '../helpers/system/is-accessible.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()
const NASTY = '<img src=x onerror=alert(1)>"&\u202egpj.mov'

/** The report on a film whose name no page can show as it is; made once, and read without its folder. */
let nasty: Promise<string> | undefined

async function reportOnNasty(): Promise<string> {
  const input = bench.folder.file(NASTY)
  await rename(await bench.take('timecode.mov'), input)
  bench.answerWith('-af', 'volume=0.5')
  const { event, receipt } = await runJob(requestFor(input, { report: true }), bench.pipeline.context)
  expect(event).toMatchObject({ status: 'done', error: null })
  expect(receipt?.notes.join()).not.toContain('report')
  expect(receipt?.report).toBe(`${event.output}.voxmux.html`)
  expect((await readReceipt(event.receipt ?? ''))?.report).toBe(receipt?.report)
  expect((await readdir(bench.folder.path)).filter((name) => name.startsWith('.voxmux'))).toEqual([])
  return readFile(receipt?.report ?? '', 'utf8')
}

describe('a report', () => {
  it('stands beside the output, carries all that it shows, and escapes what media say of themselves', async () => {
    nasty ??= reportOnNasty()
    const page = await nasty
    expect(page).not.toContain('<img src=x')
    expect(page).not.toContain('\u202e')
    expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&amp;\\u202egpj')
    expect(page).not.toMatch(/(?:src|href)="(?!data:)/)
    expect(page).not.toMatch(/https?:\/\//)
  })

  it('is made where a finished job is run again with it, and nothing else is done again', async () => {
    const input = await bench.take('speech.wav')
    bench.answerWith('-af', 'volume=0.5')
    const first = await runJob(requestFor(input), bench.pipeline.context)
    const { report } = (await readReceipt(first.event.receipt ?? '')) ?? {}
    expect([report, bench.server.charges]).toEqual([null, 1])
    const again = await runJob(requestFor(input, { report: true }), bench.pipeline.context)
    expect(again.event).toMatchObject({ status: 'skipped', output: first.event.output })
    const page = await readFile(`${first.event.output}.voxmux.html`, 'utf8')
    expect(page).toContain('speech.wav')
    expect((await readReceipt(first.event.receipt ?? ''))?.report).toBe(`${first.event.output}.voxmux.html`)
    const third = await runJob(requestFor(input, { report: true }), bench.pipeline.context)
    expect(third.event).toMatchObject({ status: 'skipped', error: null })
    expect(bench.server.charges).toBe(1)
    expect((await readdir(bench.folder.path)).filter((name) => name.startsWith('.voxmux'))).toEqual([])
  })

  it.skipIf(process.platform === 'win32')('opens no pipe that has its name', async () => {
    const input = await bench.take('speech.wav')
    const { event } = await runJob(requestFor(input), bench.pipeline.context)
    execFileSync('mkfifo', [`${event.output}.voxmux.html`])
    const again = await runJob(requestFor(input, { report: true }), bench.pipeline.context)
    expect(again.event).toMatchObject({ status: 'skipped', error: null })
    expect((await lstat(`${event.output}.voxmux.html`)).isFIFO()).toBe(true)
  })

  it('begins near the first part that was regenerated where the file is longer than a page', async () => {
    const input = bench.folder.file('long.wav')
    await ffmpeg('-f', 'lavfi', '-i', 'anoisesrc=c=pink:seed=7:a=0.3:r=8000:d=12', '-c:a', 'pcm_s16le', input)
    const kept = { index: 0, outputIndex: 0, kind: 'audio', codec: null, fate: 'replaced', packetHash: null } as const
    const [comparison] = await compareTracks(
      { streams: [{ ...kept, reason: null }], segments: [{ startSec: 6, endSec: 7 }], voices: [] },
      {
        ...{
          before: { path: input },
          after: { path: input },
          durationSec: 12,
          mostSec: 8,
          workFolder: bench.folder.path,
        },
        signal: new AbortController().signal,
      },
    )
    expect(comparison).toMatchObject({ audioIndex: 0, startSec: 3, lengthSec: 8, isWhole: false })
    expect(comparison?.parts).toEqual([{ startSec: 6, endSec: 7 }])
    const { format } = (await ffprobeJson(comparison?.after.audio ?? '', '-show_format')) as {
      format: { duration: string }
    }
    expect(Number(format.duration)).toBeCloseTo(8, 0)
  })

  it('plays before and after on one switch in a browser', async ({ skip }) => {
    if (NO_CHROMIUM !== null) return skip(NO_CHROMIUM)
    nasty ??= reportOnNasty()
    const shown = await nasty
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(shown)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const browser = await openChromium()
    try {
      const page = await browser.newPage({ viewport: { width: 1100, height: 900 } })
      const asked: string[] = []
      const faults: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      page.on('pageerror', (error) => faults.push(error.message))
      await page.goto(address)
      // The axes of the pictures.
      await page.getByText('12 kHz').last().waitFor()
      await page.waitForFunction('[...document.querySelectorAll("audio")].every((one) => one.readyState >= 1)')
      const durations = await page.evaluate('[...document.querySelectorAll("audio")].map((one) => one.duration)')
      expect(durations).toEqual([expect.closeTo(2, 1), expect.closeTo(2, 1)])
      // By keyboard alone: to a second in, then the other side, which goes on from there.
      // What the keyboard reaches has a name.
      await page.getByRole('region', { name: 'Loudness' }).focus()
      await page.locator('[type=range]').fill('1')
      await page.getByRole('radio', { name: 'After' }).focus()
      await page.keyboard.press('ArrowLeft')
      expect(await page.getByRole('radio', { name: 'Before' }).isChecked()).toBe(true)
      const [before] = (await page.evaluate(
        '[...document.querySelectorAll("audio")].map((one) => one.currentTime)',
      )) as [number, number]
      expect(before).toBeCloseTo(1, 1)
      await page.getByRole('button', { name: 'Play' }).press('Enter')
      await page.getByRole('button', { name: 'Pause' }).waitFor()
      expect(asked.filter((url) => !url.startsWith('data:') && url !== address)).toEqual([])
      expect(faults).toEqual([])
      await isAccessible(page, 'report')
    } finally {
      await browser.close()
      server.close()
    }
  }, 180_000)
})
