import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { downloadAddress, safeAddress } from '../../../client/index.js'
import { reworded, VoxmuxError } from '../../../core/errors.js'
import { fileSha256, valueSha256 } from '../../../core/file-identity.js'
import { makeProcessFolder } from '../../../core/process-folder.js'
import { redactUrl } from '../../../core/redact.js'
import type { PipelineContext } from '../../context.js'
import { withinFreeSpace } from '../../output/free-space.js'
import type { PlanRequest } from '../../plan/plan-job.js'
import { lastingAddress } from '../../web-address.js'
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
  const { stateDir, logger, sharedPath = (path: string) => path } = context
  const ends: (() => Promise<void>)[] = []
  return {
    async plan(signal) {
      // Another job of the same address has a download of its own, which may end earlier.
      const folder = await makeProcessFolder(join(stateDir, 'downloads'))
      ends.push(() => rm(folder, { recursive: true, force: true }))
      const local = join(folder, fileName(address))
      await withinFreeSpace(folder, redactUrl(address), (maxBytes) =>
        downloadAddress(address, local, { signal, logger, maxBytes }),
      )
      const job = localJob({ ...request, input: local, output }, context)
      ends.unshift(async () => job.close?.())
      const planned = await job.plan(signal).catch((error: unknown) => {
        // The person knows the address, not the copy.
        if (!(error instanceof VoxmuxError)) throw error
        throw reworded(error, (text) => text.replaceAll(local, redactUrl(address)))
      })
      // The path and the time of the copy are others in each run. By its key, a run knows the output of a killed one.
      const [content, made, recipe] = [await fileSha256(local, signal), sharedPath(planned.output), planned.recipeHash]
      const key = valueSha256({ address: lastingAddress(address), content, output: made, recipe })
      return { ...planned, key, input: redactUrl(address) }
    },
    async close() {
      for (const end of ends) await end()
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
