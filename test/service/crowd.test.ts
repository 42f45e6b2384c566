import { describe, expect, it } from 'vitest'
import { apiClient } from './support/api-client.js'
import { crowd } from './support/crowd.js'
import { plainEngine } from './support/engines.js'
import { streamedPut } from './support/streamed-put.js'
import { withService } from './support/with-service.js'

/** A tenth in `npm test`, all of it in `npm run soak`. */
const CLIENTS = process.env.VOXMUX_SOAK ? 200 : 20

describe('many at once', () => {
  it(`${CLIENTS} clients each get their own file back`, async () => {
    const service = await withService({ engine: plainEngine })
    expect((await crowd(service, CLIENTS)).filter((fault) => fault !== undefined)).toEqual([])
  }, 600_000)

  it('100 uploads are taken with flat memory', async () => {
    const client = await apiClient(await withService())
    const links = await Promise.all(Array.from({ length: 100 }, (_, index) => client.register(`${index}`)))
    const sizeBytes = 4 * 1024 ** 2
    const before = process.memoryUsage().arrayBuffers
    let peakBytes = 0
    const meter = setInterval(() => {
      peakBytes = Math.max(peakBytes, process.memoryUsage().arrayBuffers - before)
    }, 10)
    const statuses = await Promise.all(links.map((link) => streamedPut(link.file_upload_link, sizeBytes)))
    clearInterval(meter)
    expect(new Set(statuses)).toEqual(new Set([201]))
    // 400 MB pass through this process; some buffers a connection may be under way.
    expect(peakBytes).toBeLessThan(100 * 1024 ** 2)
  }, 600_000)
})
