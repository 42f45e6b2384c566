import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { regenerateHls } from 'voxmux/plugins/hls'
import { runJob } from '../../../src/pipeline/run-job.js'
import { NO_CHROMIUM, openChromium } from '../../helpers/chromium.js'
import { jobBench } from '../../helpers/job-bench.js'
import { requestFor } from '../../helpers/test-pipeline.js'
import { makeTwoRatePackage } from './made-package.js'

if (NO_CHROMIUM) process.stderr.write(`Packages are not played: ${NO_CHROMIUM}.\n`)

const bench = jobBench()
const HLS_JS = createRequire(import.meta.url).resolve('hls.js/dist/hls.min.js')
const PAGE = `<!doctype html><video muted></video><script src="/hls.js"></script><script>
  window.faults = []
  const video = document.querySelector('video')
  const hls = new Hls()
  hls.on(Hls.Events.ERROR, (_, fault) => faults.push(fault.details + (fault.fatal ? ' (fatal)' : '')))
  hls.on(Hls.Events.BUFFER_CREATED, (_, { tracks }) => { window.tracks = tracks })
  hls.on(Hls.Events.MANIFEST_PARSED, () => video.play())
  window.endOf = (kind) => {
    const { buffered } = window.tracks?.[kind]?.buffer ?? {}
    return buffered?.length ? buffered.end(buffered.length - 1) : 0
  }
  hls.loadSource(location.search.slice(1))
  hls.attachMedia(video)
</script>`

describe.skipIf(NO_CHROMIUM)('a regenerated package plays in a browser', () => {
  it.each(['fmp4', 'mpegts'] as const)('as %s, with hls.js', async (type) => {
    const before = await makeTwoRatePackage(bench.folder.file('in'), type)
    const regenerate = (input: string, output: string) =>
      runJob(requestFor(input, { output }), bench.pipeline.context).then(() => {})
    await regenerateHls(before, bench.folder.file('out'), { regenerate })
    const [server, browser] = await Promise.all([serve(bench.folder.path), openChromium()])
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
      const ends = (page: Page) => page.evaluate('[endOf("audio"), endOf("video")].map((end) => end.toFixed(2))')
      expect(await ends(fresh)).toEqual(await ends(old))
    } finally {
      await browser.close()
      server.close()
    }
  })
})

function faultsOf(page: Page): Promise<unknown> {
  return page.evaluate('faults.concat(document.querySelector("video").error?.message ?? [])')
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
