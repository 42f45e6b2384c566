import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const CHROMIUM = [process.env.VOXMUX_CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (path) => path !== undefined && existsSync(path),
)

/** Why the tests of a page are skipped; null where there is a browser. */
export const NO_CHROMIUM = CHROMIUM === undefined ? 'no Chromium (VOXMUX_CHROMIUM, /usr/bin/chromium)' : null

/** Folder in which pictures of pages are left for a person to look at; undefined for none. */
export const SCREENSHOTS = process.env.VOXMUX_SCREENSHOTS

/** Starts the system's browser. */
export function openChromium(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error(String(NO_CHROMIUM))
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--autoplay-policy=no-user-gesture-required'],
  })
}
