import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { downloadAddress, safeAddress } from '../../../client/index.js'
import { makeFolder } from '../../../core/make-folder.js'
import { redactUrl } from '../../../core/redact.js'
import type { PipelineContext } from '../../context.js'
import { valueSha256 } from '../../file-identity.js'
import { withinFreeSpace } from '../../output/free-space.js'
import type { PlanRequest } from '../../plan/plan-job.js'
import type { JobKind } from '../job-life.js'
import { localJob } from './local-job.js'

/** Characters that some file systems do not accept in a name. */
const UNSAFE = /[^\p{L}\p{N}._ -]/gu

/**
 * A job whose input is an address. The file is downloaded into the state folder, treated as a local file, and deleted
 * at the end. The output goes to the working folder unless another one is named.
 */
export function webJob(request: PlanRequest, context: PipelineContext): JobKind {
  const { input: address, output = `${request.cwd}/` } = request
  const { stateDir, logger } = context
  const folder = join(stateDir, 'downloads', valueSha256(address))
  const local = join(folder, fileName(address))
  const job = localJob({ ...request, input: local, output }, context)
  return {
    async plan(signal) {
      makeFolder(folder, 0o700)
      await withinFreeSpace(folder, redactUrl(address), (maxBytes) =>
        downloadAddress(address, local, { signal, logger, maxBytes }),
      )
      const planned = await job.plan(signal)
      return { ...planned, input: redactUrl(address) }
    },
    async close() {
      await job.close?.()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function fileName(address: string): string {
  const last = basename(safeAddress(address, 'The input').pathname)
  const name = (decodeOrKeep(last).replace(UNSAFE, '_') || 'download').replace(/^\.+/, '_')
  return Buffer.byteLength(name) > 200 ? name.slice(-100) : name
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
