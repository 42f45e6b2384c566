import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type FileEngine, openPortal, startService } from '../../../src/service/index.js'
import { plainEngine } from './engines.js'

/** A node that takes its time for each file, so that it can be killed in the middle of one. */
const slowEngine = async (): Promise<FileEngine> => {
  const plain = await plainEngine()
  return {
    async processFile(request) {
      for (let percent = 0; percent < 100; percent += 20) {
        request.onProgress(percent)
        await delay(100, undefined, { signal: request.signal })
      }
      return plain.processFile(request)
    },
  }
}

/** A node that comes to no end of a file before there is a file `go` in the folder of all. */
const heldEngine = async (): Promise<FileEngine> => {
  const plain = await plainEngine()
  return {
    async processFile(request) {
      request.onProgress(20)
      while (!existsSync(join(dataDir, 'go'))) await delay(20, undefined, { signal: request.signal })
      return plain.processFile(request)
    },
  }
}

/** A node that dies of each file that ends with `deadly`. */
const mortalEngine = async (): Promise<FileEngine> => {
  const slow = await slowEngine()
  return {
    async processFile(request) {
      const bytes = await readFile(request.input)
      await delay(50)
      if (bytes.subarray(-6).toString() === 'deadly') process.kill(process.pid, 'SIGKILL')
      return slow.processFile(request)
    },
  }
}

const [, , dataDir = '', engine = 'slow', store = '', leaseMs = ''] = process.argv
const { close, baseUrl, authUrl, tenantId, scope } = await startService({
  dataDir,
  ...(store !== '' && { store }),
  allowPrivateUrls: true,
  engine: { slow: slowEngine, held: heldEngine, mortal: mortalEngine }[engine] ?? slowEngine,
  settings: { work: { concurrency: 2, pollMs: 50, crashes: 3, leaseMs: Number(leaseMs) }, webhooks: { pollMs: 50 } },
})
const portal = await openPortal(store === '' ? { dataDir } : { store })
const { clientId, clientSecret } = await portal.keys.create((await portal.accounts.ensure('local')).id, 'test')
await portal.close()
process.on('SIGTERM', () => close().then(() => process.exit(0)))
process.stdout.write(
  `${JSON.stringify({ service: { baseUrl, authUrl, tenantId, scope }, key: { clientId, clientSecret } })}\n`,
)
