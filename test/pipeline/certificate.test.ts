import { readFile, writeFile } from 'node:fs/promises'
import { afterEach, expect, it } from 'vitest'
import { summary } from '../../src/cli/output/summary.js'
import { forgetBinaries } from '../../src/media/index.js'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { readReceipt } from '../../src/pipeline/output/receipt.js'
import { reportPage } from '../../src/pipeline/report/report-page.js'
import { fixture, jobBench } from '../helpers/job-bench.js'
import { ebur128, ffmpeg } from '../helpers/media-factory.js'
import { NO_CHROMIUM, openChromium, SCREENSHOTS } from '../helpers/system/chromium.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()

/** Four seconds of speech in stereo at about -19 LUFS. */
async function clip(): Promise<string> {
  const path = bench.folder.file('talk.wav')
  await ffmpeg('-ss', '1', '-t', '4', '-i', fixture('interview.mp4'), '-vn', '-c:a', 'pcm_s24le', path)
  return path
}

const AT_R128 = { qc: 'ebu-r128', loudness: { targetLufs: -23, truePeakDbtp: -1 } } as const

it('certifies an output that meets its standard, in the receipt, the event and the summary', async () => {
  const input = await clip()
  const { event, receipt, error } = await runJob(requestFor(input, { recipe: AT_R128 }), bench.pipeline.context)
  const heard = await ebur128(event.output ?? '')
  expect(receipt?.certificate).toMatchObject({ standard: 'ebu-r128', passed: true, fault: null })
  const [track] = receipt?.certificate?.tracks ?? []
  expect(track).toMatchObject({ outputIndex: 0, sound: { dialogueLufs: null, silenceSec: 0 } })
  expect(track?.sound.integratedLufs).toBeCloseTo(heard.integrated, 0)
  expect(track?.sound.truePeakDbtp).toBeCloseTo(heard.peak, 0)
  expect(track?.rules.map(({ figure, from, to, passed }) => [figure, from, to, passed])).toEqual([
    ['integratedLufs', -23.5, -22.5, true],
    ['truePeakDbtp', null, -1, true],
  ])
  expect(event.certificate).toMatchObject({ standard: 'ebu-r128', passed: true })
  expect(summary([{ event, receipt, error }])).toContain('EBU R 128: passed. integrated loudness -23.')
  expect((await readReceipt(event.receipt ?? ''))?.certificate).toEqual(receipt?.certificate)
})

it('publishes an output that fails, names the rule, and certifies it for another standard later', async () => {
  const input = await clip()
  const first = await runJob(requestFor(input, { recipe: { qc: 'ebu-r128' } }), bench.pipeline.context)
  expect(first.event).toMatchObject({ status: 'done', error: null, certificate: { passed: false } })
  const words = /integrated loudness -1\d\.\d LUFS \(failed, allowed: -23\.5 to -22\.5 LUFS\); true peak -\d\.\d dBTP$/
  expect(first.event.certificate?.summary).toMatch(words)
  expect(await readFile(first.receipt?.report ?? '', 'utf8')).toContain('EBU R 128: failed')
  const later = await runJob(requestFor(input, { recipe: { qc: 'netflix' } }), bench.pipeline.context)
  expect(later.event).toMatchObject({ status: 'skipped', certificate: { standard: 'netflix', passed: false } })
  expect([bench.server.charges, later.receipt]).toEqual([1, null])
  const receipt = await readReceipt(later.event.receipt ?? '')
  const [track] = receipt?.certificate?.tracks ?? []
  expect(track?.rules.map(({ figure }) => figure)).toEqual(['dialogueLufs', 'truePeakDbtp'])
  expect(track?.sound.voiceShare).toBeGreaterThan(0.5)
  const page = await readFile(receipt?.report ?? '', 'utf8')
  expect(page).toContain('Netflix: failed')
  expect(page).not.toContain('<audio')
})

it('prints two tracks, and nothing else of a report, on one page', async ({ skip }) => {
  if (NO_CHROMIUM !== null) return skip(NO_CHROMIUM)
  const input = await clip()
  const { receipt } = await runJob(requestFor(input, { recipe: { qc: 'ebu-r128-s1' } }), bench.pipeline.context)
  const [track] = receipt?.certificate?.tracks ?? []
  if (!receipt?.certificate || !track) throw new Error('no certificate')
  const certificate = { ...receipt.certificate, tracks: [track, { ...track, outputIndex: 1 }] }
  const side = { audio: 'data:,', waveform: 'data:,', spectrogram: 'data:,' }
  const comparison = { audioIndex: 0, startSec: 0, lengthSec: 4, isWhole: true, parts: [], before: side, after: side }
  const browser = await openChromium()
  try {
    const page = await browser.newPage({ viewport: { width: 794, height: 1123 } })
    await page.setContent(reportPage({ ...receipt, certificate }, [comparison]))
    const pdf = await page.pdf({ preferCSSPageSize: true })
    expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
    if (SCREENSHOTS) await page.screenshot({ path: `${SCREENSHOTS}/certificate.png`, fullPage: true })
    await page.emulateMedia({ media: 'print' })
    if (SCREENSHOTS) await page.screenshot({ path: `${SCREENSHOTS}/certificate-print.png` })
    expect(await page.locator('body > header:visible, main > :visible').count()).toBe(1)
  } finally {
    await browser.close()
  }
})

const chosen = process.env.VOXMUX_FFMPEG
afterEach(() => {
  if (chosen === undefined) delete process.env.VOXMUX_FFMPEG
  else process.env.VOXMUX_FFMPEG = chosen
  forgetBinaries()
})

it('publishes an output that cannot be measured, says so, and measures it when it can', async () => {
  const input = await clip()
  const ffmpegWithoutMeter = bench.folder.file('ffmpeg')
  const lines = ['#!/bin/sh', 'case "$*" in *ebur128*) echo "No such filter: ebur128" >&2; exit 1;; esac']
  await writeFile(ffmpegWithoutMeter, [...lines, 'exec ffmpeg "$@"', ''].join('\n'), { mode: 0o755 })
  process.env.VOXMUX_FFMPEG = ffmpegWithoutMeter
  forgetBinaries()
  const { event, receipt } = await runJob(requestFor(input, { recipe: AT_R128 }), bench.pipeline.context)
  expect(event).toMatchObject({ status: 'done', error: null, certificate: { passed: null } })
  expect(event.certificate?.summary).toBe(
    'EBU R 128: not measured. The installed ffmpeg lacks a part that this file needs.',
  )
  expect(receipt?.certificate).toMatchObject({ passed: null, tracks: [] })
  expect(await readFile(receipt?.report ?? '', 'utf8')).toContain('Nothing was measured')
  delete process.env.VOXMUX_FFMPEG
  forgetBinaries()
  const again = await runJob(requestFor(input, { recipe: AT_R128 }), bench.pipeline.context)
  expect(again.event).toMatchObject({ status: 'skipped', certificate: { passed: true } })
})
