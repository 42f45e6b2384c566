import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { regenerateHls } from 'voxmux/plugins/hls'
import { testFolder } from '../../helpers/media-factory.js'
import { NO_CHROMIUM, openChromium } from '../../helpers/system/chromium.js'
import { halveVoice } from './halve-voice.js'
import { makeTwoRatePackage } from './made-package.js'

if (NO_CHROMIUM) process.stderr.write(`Packages are not played: ${NO_CHROMIUM}.\n`)

const HLS_JS = createRequire(import.meta.url).resolve('hls.js/dist/hls.min.js')
const PAGE = `<!doctype html><video muted></video><script src="/hls.js"></script><script>
  window.faults = []
  const pace = [Hls.ErrorDetails.BUFFER_STALLED_ERROR, Hls.ErrorDetails.BUFFER_NUDGE_ON_STALL]
  const video = document.querySelector('video')
  const hls = new Hls()
  // A picture that stood still for a moment tells how busy the machine was, and nothing of the package; a hole in the sound
  // is a second range of what was buffered.
  hls.on(Hls.Events.ERROR, (_, { details, fatal }) => {
    if (fatal || !pace.includes(details)) faults.push(details + (fatal ? ' (fatal)' : ''))
  })
  hls.on(Hls.Events.BUFFER_CREATED, (_, { tracks }) => { window.tracks = tracks })
  hls.on(Hls.Events.MANIFEST_PARSED, () => video.play())
  window.bufferedOf = (kind) => {
    const { buffered } = window.tracks?.[kind]?.buffer ?? {}
    return Array.from(buffered ?? [], (_, index) => [buffered.start(index), buffered.end(index)])
  }
  window.endOf = (kind) => bufferedOf(kind).at(-1)?.[1] ?? 0
  hls.loadSource(location.search.slice(1))
  hls.attachMedia(video)
</script>`

describe.skipIf(NO_CHROMIUM)('a regenerated package plays in a browser', () => {
  it.each(process.env.VOXMUX_SOAK ? (['fmp4', 'mpegts'] as const) : (['fmp4'] as const))(
    'as %s, with hls.js',
    async (type) => {
      const folder = await testFolder()
      onTestFinished(() => folder.remove())
      const before = await makeTwoRatePackage(folder.file('in'), type)
      await regenerateHls(before, folder.file('out'), { regenerate: halveVoice })
      const [server, browser] = await Promise.all([serve(folder.path), openChromium()])
      try {
        const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
        const play = async (name: string) => {
          const page = await browser.newPage()
          await page.goto(`${address}?/${name}/master.m3u8`)
          await page.waitForFunction('endOf("audio") > 4.8 && endOf("video") > 4.8', undefined, { timeout: 50_000 })
          await page.waitForFunction('document.querySelector("video").currentTime > 1', undefined, { timeout: 50_000 })
          return page
        }
        const [old, fresh] = await Promise.all([play('in'), play('out')])
        const faults = (await faultsOf(fresh)) as string[]
        expect(faults.join()).not.toContain('fatal')
        // What hls.js remarks on in a package of ffmpeg's, it remarks on still, and on nothing else.
        expect(faults).toEqual(await faultsOf(old))
        expect(await rangesOf(fresh)).toEqual(await rangesOf(old))
      } finally {
        await browser.close()
        server.close()
      }
    },
  )
})

function faultsOf(page: Page): Promise<unknown> {
  return page.evaluate('[...new Set(faults)].concat(document.querySelector("video").error?.message ?? [])')
}

/** What is buffered of each kind, as ranges in seconds of two digits. */
function rangesOf(page: Page): Promise<unknown> {
  return page.evaluate(
    '["audio", "video"].map((kind) => bufferedOf(kind).map((range) => range.map((time) => time.toFixed(2))))',
  )
}

async function serve(folder: string): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1')
    const path = pathname === '/hls.js' ? HLS_JS : join(folder, pathname)
    const body = pathname === '/' ? PAGE : await readFile(path).catch(() => null)
    response.writeHead(body === null ? 404 : 200, pathname === '/' ? { 'content-type': 'text/html' } : {})
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
