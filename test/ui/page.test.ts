import { stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readReceipt } from '../../src/pipeline/output/receipt.js'
import { ffmpeg, picture, tone } from '../helpers/media-factory.js'
import { NO_CHROMIUM, openChromium } from '../helpers/system/chromium.js'
import { isAccessible } from '../helpers/system/is-accessible.js'
import { uiBench } from './ui-bench.js'

const NASTY = '<img src=x onerror=alert(1)>"&.wav'

describe.skipIf(NO_CHROMIUM)(`the page of voxmux ui${NO_CHROMIUM ? ` (skipped: ${NO_CHROMIUM})` : ''}`, () => {
  const bench = uiBench()
  let browser: Browser
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
    page = await browser.newPage({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' })
    // A check listens to the whole file, which takes long on a busy machine.
    page.setDefaultTimeout(90_000)
    faults.length = 0
    asked.length = 0
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(bench.ui.url)
  })
  afterEach(async () => {
    await page.close()
  })

  it('leads a person from a file to the finished one by keyboard alone', async () => {
    const input = await bench.take('speech.wav')
    // Through the folders of this computer.
    await page.getByText('Browse this computer').press('Enter')
    await page.getByRole('button', { name: 'File speech.wav' }).press('Enter')
    await page.getByText('Ready: voxmux can process this file').waitFor()
    expect(await page.getByLabel('Path of a video or audio file').inputValue()).toBe(input)
    await page.getByRole('img', { name: /^Waveform/ }).waitFor()
    await page.getByText(/^Upper row: voice/).waitFor()
    await page.getByText('Nothing: the embedded service runs on this computer').waitFor()

    // A part, by its times.
    await page.getByRole('button', { name: 'Add a part' }).press('Enter')
    await page.getByLabel('Part 1 from').fill('0:01')
    await page.getByLabel('Part 1 to').fill('0:02')
    await page.getByLabel('Part 1 to').press('Tab')
    await page.getByLabel('Strength').focus()
    await page.keyboard.press('ArrowLeft')
    await page.getByText('95 % of the regenerated voice').waitFor()

    // Ten seconds first.
    await page.getByRole('button', { name: 'Hear before and after' }).press('Enter')
    const listening = page.locator('#preview-job')
    await listening.getByRole('button', { name: 'Play' }).waitFor()
    await listening.getByRole('button', { name: 'Play' }).press('Enter')
    await listening.getByRole('button', { name: 'Pause' }).waitFor()
    await expect(stat(`${input.slice(0, -4)}.preview.wav`)).rejects.toThrow()

    await page.evaluate(`
      said = []
      new MutationObserver(() => said.push(document.querySelector('#job [role=status]')?.textContent))
        .observe(document.getElementById('job'), { childList: true, subtree: true })`)
    await page.locator('#start:enabled').press('Enter')
    const job = page.locator('#job')
    await job.getByText(/^Done after/).waitFor()
    // The output is there, although before and after are not yet.
    expect(await page.locator('#status').textContent()).toBe('Done')
    const said = (await page.evaluate('said.filter(Boolean)')) as string[]
    // A clock in it would be read aloud without end.
    expect(said).toContain('Starting')
    expect(said.filter((text) => /\d/.test(text))).toEqual([])
    await job.getByRole('radio', { name: 'After' }).waitFor()
    await job.getByText('Marked: 0:01 to 0:02. Only that is regenerated.').waitFor()
    await isAccessible(page, 'ui-done')
    const output = bench.folder.file('media/speech.regen.wav')
    const receipt = await readReceipt(`${output}.voxmux.json`)
    expect(receipt).toMatchObject({ preset: 'transparent', segments: [{ startSec: 1, endSec: 2 }] })
    await job.getByRole('button', { name: 'Open the folder' }).press('Enter')
    await page.getByText('The folder is open.').waitFor()
    expect(bench.opened).toEqual([dirname(output)])
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      job.getByRole('link', { name: 'Download the output' }).press('Enter'),
    ])
    expect(download.suggestedFilename()).toBe('speech.regen.wav')

    // Other settings would write the same name: the plan says so before anything starts.
    await page.getByRole('button', { name: 'Remove all parts' }).press('Enter')
    await page.getByText('tick Replace an existing output').waitFor()
    expect(await page.getByRole('button', { name: 'Start', exact: true }).isDisabled()).toBe(true)
    expect(asked.filter((url) => !url.startsWith(new URL(bench.ui.url).origin))).toEqual([])
    expect(faults).toEqual([])
  }, 240_000)

  it('asks which of several tracks, takes a part that is dragged, and stops a job', async () => {
    const film = bench.folder.file('media/film.mkv')
    const maps = ['-map', '0:v', '-map', '1:a', '-map', '1:a', '-metadata:s:a:1', 'language=ger']
    await ffmpeg(...picture(4), ...tone(4), ...maps, '-c:v', 'mpeg4', '-c:a', 'flac', film)
    await page.getByLabel('Path of a video or audio file').fill(film)
    await page.keyboard.press('Enter')
    await page.getByText('Choose a track under Settings.').first().waitFor()
    expect(await page.getByRole('button', { name: 'Start', exact: true }).isDisabled()).toBe(true)
    await page.locator('#status').getByText('Needs a choice').waitFor()
    await page.evaluate(`
      states = []
      new MutationObserver(() => states.push(document.getElementById('status').textContent))
        .observe(document.getElementById('status'), { childList: true })`)
    await page.getByRole('combobox', { name: 'Track' }).selectOption({ label: '1 German mono' })
    await page.locator('#wave .peaks').waitFor()
    const box = await page.locator('#wave').boundingBox()
    if (!box) throw new Error('no waveform')
    await page.mouse.move(box.x + box.width / 4, box.y + 20)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width / 2, box.y + 20, { steps: 4 })
    await page.mouse.up()
    expect(await page.getByLabel('Part 1 from').inputValue()).toBe('0:01')
    expect(await page.getByLabel('Part 1 to').inputValue()).toBe('0:02')
    await page.mouse.click(box.x + box.width / 4, box.y + 20)
    expect(await page.getByLabel('Ten seconds from').inputValue()).toBe('0:01')
    const start = page.getByRole('button', { name: 'Start', exact: true })
    await start.click()
    expect((await page.evaluate('states')) as string[]).toContain('Checking…')
    await page.locator('#job').getByRole('button', { name: 'Stop' }).press('Enter')
    await page
      .locator('#job')
      .getByText(/ERR_INTERRUPTED|Done after/)
      .waitFor()
    expect(faults).toEqual([])
  })

  it('keeps a running job in view, and its output from the next file', async () => {
    const [input, next] = [await bench.take('interview.mp4'), await bench.take('speech.wav')]
    const open = async (path: string) => {
      await page.getByLabel('Path of a video or audio file').fill(path)
      await page.keyboard.press('Enter')
    }
    await open(input)
    await page.locator('#start:enabled').waitFor()
    await page.getByLabel('Output (file or folder)').fill(bench.folder.file('media/mine.mp4'))
    await page.getByLabel('Replace an existing output').check()
    await page.getByText(bench.folder.file('media/mine.mp4'), { exact: true }).waitFor()
    await page.locator('#start:enabled').press('Enter')
    const stop = page.locator('#job').getByRole('button', { name: 'Stop' })
    await stop.waitFor()
    await open(next)
    await page.getByText('A job runs. Stop it or wait for its end').waitFor()
    expect(await page.locator('#name').textContent()).toBe('interview.mp4')
    await stop.press('Enter')
    await page.locator('#job').getByText('ERR_INTERRUPTED').waitFor()
    await open(next)
    await page.getByText(bench.folder.file('media/speech.regen.wav'), { exact: true }).waitFor()
    expect(await page.getByLabel('Replace an existing output').isChecked()).toBe(false)
  }, 240_000)

  it('shows the running job to a page that is loaded again', async () => {
    const input = bench.folder.file('media/long.wav')
    await ffmpeg('-f', 'lavfi', '-i', 'anoisesrc=d=25:a=0.1,tremolo=f=4', input)
    await page.getByLabel('Path of a video or audio file').fill(input)
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await page.locator('#start:enabled').click()
    await page.locator('#job progress').waitFor()
    await page.reload()
    await page.getByText('long.wav', { exact: true }).waitFor()
    await page.locator('#job').getByRole('button', { name: 'Stop' }).click()
    await page.locator('#job').getByText('ERR_INTERRUPTED').waitFor()
    await page.reload()
    await page.getByText('Choose a file', { exact: true }).waitFor()
    expect(await page.locator('#job progress').count()).toBe(0)
    expect(faults).toEqual([])
  }, 240_000)

  it('says that voxmux has ended, also while it shows a job', async () => {
    await page.getByLabel('Path of a video or audio file').fill(await bench.take('interview.mp4'))
    await page.keyboard.press('Enter')
    await page.locator('#start:enabled').press('Enter')
    await page.locator('#job').getByRole('button', { name: 'Stop' }).waitFor()
    await bench.ui.close()
    await page.locator('#job').getByText('voxmux does not respond. If it has ended, start it again').waitFor()
    await page.locator('#status').getByText('Stopped').waitFor()
  }, 240_000)

  it('copies a dropped file, shows its name as text, and saves the output in the working folder', async () => {
    const path = bench.folder.file(NASTY)
    await ffmpeg(...tone(2), path)
    await page.locator('#dropped').setInputFiles(path)
    await page
      .getByText('Saved in')
      .or(page.getByText('Output', { exact: true }))
      .first()
      .waitFor()
    await page.getByText(bench.folder.file('media/')).first().waitFor()
    expect(await page.locator('img[src=x]').count()).toBe(0)
    await page.getByLabel('Path of a video or audio file').fill(bench.folder.file('media/none.wav'))
    await page.keyboard.press('Enter')
    await page.getByText('does not exist').first().waitFor()
    await writeFile(bench.folder.file('media/broken.mp4'), 'not a film')
    await page.getByLabel('Path of a video or audio file').fill(bench.folder.file('media/broken.mp4'))
    await page.keyboard.press('Enter')
    await page.locator('#findings').getByText(/^-2/).waitFor()
    expect(faults).toEqual([])
  })
})
