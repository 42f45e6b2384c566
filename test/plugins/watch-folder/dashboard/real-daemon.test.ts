import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { FaultServer } from '../../../helpers/fault-server.js'
import { fixture } from '../../../helpers/job-bench.js'
import { NO_CHROMIUM, openChromium } from '../../../helpers/system/chromium.js'
import { startWatch } from '../../../helpers/watch-cli.js'

it.skipIf(NO_CHROMIUM)(
  `the page of a real daemon: a job goes live, one that failed is tried again, one that is done is opened${NO_CHROMIUM ? ` (skipped: ${NO_CHROMIUM})` : ''}`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'voxmux-operator-'))
    const input = join(folder, 'in')
    mkdirSync(input)
    let isHeldUp = true
    const server = await FaultServer.start({
      states: () => [
        { status: 'InProgress', errorCode: 0, progress: 40 },
        isHeldUp
          ? { status: 'InProgress', errorCode: 0, progress: 40 }
          : { status: 'Succeeded', errorCode: 0, progress: 100 },
      ],
    })
    const args = [input, '--settle', '0.2', '--scan', '1', '--port', '0', '--verify', 'fast']
    const watch = await startWatch(args, {
      cwd: folder,
      env: { ...server.env, VOXMUX_STATE_DIR: join(folder, 'state') },
    })
    const browser = await openChromium()
    try {
      const page = await browser.newPage()
      await page.goto(watch.url)
      await page.getByText('Watching 1 folder').waitFor()
      expect((await fetch(`${watch.url}readyz`)).status).toBe(200)

      copyFileSync(fixture('speech.wav'), join(input, 'take.wav'))
      await page.getByText('Regenerating 40 %').waitFor()
      isHeldUp = false
      await page.getByRole('link', { name: 'take.wav' }).and(page.locator('.job a')).press('Enter')
      const dialog = page.getByRole('dialog')
      await dialog.getByText('Verified fast').waitFor()
      await dialog.getByRole('img', { name: 'After: spectrogram' }).waitFor()
      await page.keyboard.press('Escape')

      copyFileSync(fixture('two-tracks.mkv'), join(input, 'two.mkv'))
      await page.getByRole('tab', { name: 'Failed 1' }).press('Enter')
      const again = page.getByRole('button', { name: 'Try again: two.mkv' })
      await again.press('Enter')
      await page.getByText('two.mkv is back in the queue.').waitFor()
      // Nothing has changed about it: it fails once more, and is there again.
      await again.waitFor()
      expect(await watch.files(3)).toMatchObject([{ status: 'done' }, { status: 'rejected' }, { status: 'rejected' }])
      const metrics = await (await fetch(`${watch.url}metrics`)).text()
      expect(metrics).toContain('voxmux_errors_total{code="ERR_SEVERAL_TRACKS",error_code="-8"} 2')
      expect(metrics).toMatch(/voxmux_bytes_total\{direction="sent"\} [1-9]/)
      expect(metrics).toMatch(/voxmux_stage_seconds_count\{stage="verify"\} 1/)
      expect(await watch.stop()).toBe(0)
    } finally {
      await browser.close()
      watch.child.kill('SIGKILL')
      await server.close()
      rmSync(folder, { recursive: true, force: true })
    }
  },
)
