import { describe, expect, it } from 'vitest'
import { apiClient } from './support/api-client.js'
import { crowd } from './support/crowd.js'
import { plainEngine } from './support/engines.js'
import { streamedPut } from './support/streamed-put.js'
import { withService } from './support/with-service.js'

/** A tenth in `npm test`, all of it in `npm run soak`. */
const CLIENTS = process.env.VOXMUX_SOAK ? 200 : 20
/** 40 of 4 MB are more than the memory may grow by, too. */
const UPLOADS = process.env.VOXMUX_SOAK ? 100 : 40

describe('many at once', () => {
  it(`${CLIENTS} clients each get their own file back`, async () => {
    const service = await withService({ engine: plainEngine })
    expect((await crowd(service, CLIENTS)).filter((fault) => fault !== undefined)).toEqual([])
  }, 600_000)

  it(`${UPLOADS} uploads are taken with flat memory`, async () => {
    const client = await apiClient(await withService())
    const links = await Promise.all(Array.from({ length: UPLOADS }, (_, index) => client.register(`${index}`)))
    const sizeBytes = 4 * 1024 ** 2
    const before = process.memoryUsage()
    const peak = { arrayBuffers: 0, rss: 0 }
    const meter = setInterval(() => {
      const now = process.memoryUsage()
      peak.arrayBuffers = Math.max(peak.arrayBuffers, now.arrayBuffers - before.arrayBuffers)
      peak.rss = Math.max(peak.rss, now.rss - before.rss)
    }, 10)
    const statuses = await Promise.all(links.map((link) => streamedPut(link.file_upload_link, sizeBytes)))
    clearInterval(meter)
    expect(new Set(statuses)).toEqual(new Set([201]))
    const megabytes = (bytes: number) => Math.round(bytes / 1024 ** 2)
    process.stdout.write(
      `${UPLOADS} uploads, ${4 * UPLOADS} MB twice through one process: +${megabytes(peak.rss)} MB resident\n`,
    )
    // Some buffers a connection may be under way, at its client's end as well as here.
    expect(megabytes(peak.arrayBuffers)).toBeLessThan(100)
    expect(megabytes(peak.rss)).toBeLessThan(300)
  }, 600_000)
})
