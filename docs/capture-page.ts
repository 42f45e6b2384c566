import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { silentLogger } from '../src/core/logger.js'
import { startUi } from '../src/ui/index.js'

/**
 * Takes a picture of `voxmux ui` with a film that is ready and one part that is selected.
 *
 * @param picture path of the PNG
 */
export async function capturePage(film: string, picture: string): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'voxmux-capture-'))
  const media = join(dir, 'film')
  mkdirSync(media)
  const file = join(media, 'interview.mp4')
  copyFileSync(film, file)
  const ui = await startUi({
    ...{ cwd: media, file, port: 0, config: undefined, settings: {}, logger: silentLogger },
    env: { ...process.env, VOXMUX_STATE_DIR: join(dir, 'state') },
    openFolder: async () => true,
  })
  const executablePath = process.env.VOXMUX_CHROMIUM ?? '/usr/bin/chromium'
  if (!existsSync(executablePath)) throw new Error('Set VOXMUX_CHROMIUM to a Chromium.')
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  try {
    const page = await browser.newPage({ viewport: { width: 960, height: 1000 }, colorScheme: 'light' })
    page.setDefaultTimeout(120_000)
    await page.goto(ui.url)
    await page.getByText(/^Upper row: voice/).waitFor()
    await page.getByRole('button', { name: 'Add a part' }).click()
    await page.locator('#start:enabled').waitFor()
    await page.evaluate("document.getElementById('check').scrollIntoView()")
    await page.screenshot({ path: picture })
  } finally {
    await browser.close()
    await ui.close()
    rmSync(dir, { recursive: true, force: true })
  }
}
