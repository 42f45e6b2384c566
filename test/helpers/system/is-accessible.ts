import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { SCREENSHOTS } from './chromium.js'

const LOOKS = [
  ['desktop-light', 1280, 'light', true],
  ['desktop-dark', 1280, 'dark', false],
  ['phone-light', 360, 'light', false],
  ['phone-dark', 360, 'dark', true],
] as const

/** Asserts that axe finds nothing on a desk in light and on a phone in dark. Leaves pictures of all four looks. */
export async function isAccessible(page: Page, name: string): Promise<void> {
  for (const [look, width, colorScheme, isJudged] of LOOKS) {
    if (!isJudged && !SCREENSHOTS) continue
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 850 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    if (isJudged) {
      await page.evaluate(axe.source)
      const found = await page.evaluate(
        'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))',
      )
      expect(found, `${name} ${look}`).toEqual([])
    }
    await page.evaluate('scrollTo(0, 0)')
    if (SCREENSHOTS) await page.screenshot({ path: `${SCREENSHOTS}/${name}-${look}.png`, fullPage: true })
  }
  await page.setViewportSize({ width: 1280, height: 900 })
  // A person who reads large letters has set them in the browser.
  const [usual, large] = [await letterPx(page, ''), await letterPx(page, '200%')]
  expect(large, name).toBe(2 * usual)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(1280)
  await letterPx(page, '')
}

async function letterPx(page: Page, rootSize: string): Promise<number> {
  await page.evaluate(`document.documentElement.style.fontSize = '${rootSize}'`)
  return page.evaluate('parseFloat(getComputedStyle(document.body).fontSize)')
}
