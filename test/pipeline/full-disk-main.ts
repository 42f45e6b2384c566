import { appendFileSync, writeFileSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { resolveConfig } from '../../src/config/index.js'
import { errorReport } from '../../src/core/errors.js'
import { openPipeline } from '../../src/pipeline/job/open-pipeline.js'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { type FileEngine, startService } from '../../src/service/index.js'
import { requestFor } from '../helpers/test-pipeline.js'

/** Takes the last byte of the disk. */
function fill(path: string): void {
  try {
    writeFileSync(path, '')
    for (const size of [2 ** 20, 4096, 1]) fillBy(path, Buffer.alloc(size))
  } catch {
    // Not even an empty file fits.
  }
}

function fillBy(path: string, bytes: Buffer): void {
  try {
    for (;;) appendFileSync(path, bytes)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOSPC') throw thrown
  }
}

const [, , stateDir = '', input = '', output = ''] = process.argv

/** The disk of the state folder fills while the engine works on a file. */
const engine = async (): Promise<FileEngine> => ({
  async processFile(request) {
    fill(join(stateDir, 'other'))
    await copyFile(request.input, request.output)
    return { extension: 'flac' }
  },
})

const config = await resolveConfig({
  cwd: stateDir,
  env: { VOXMUX_STATE_DIR: stateDir },
  folders: { config: null, data: null },
})
const pipeline = await openPipeline(config, {
  async startEmbedded(dataDir) {
    const { baseUrl, authUrl, tenantId, scope, ...service } = await startService({ dataDir, engine })
    return { ...service, access: { baseUrl, authUrl, tenantId, scope, ...(await service.createKey('test')) } }
  },
})
const { event, error } = await runJob(requestFor(input, { output }), pipeline.context)
process.stdout.write(
  JSON.stringify({ status: event.status, exitCode: error?.exitCode, ...(error && errorReport(error)) }),
)
process.exit()
