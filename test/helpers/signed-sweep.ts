import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { toVoxmuxError } from '../../src/core/errors.js'
import { readingType } from '../../src/credentials/carrier.js'
import { openCredentials, readCredentials } from '../../src/credentials/index.js'
import { probe } from '../../src/media/index.js'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { readReceipt } from '../../src/pipeline/output/receipt.js'
import { proveOutput } from '../../src/pipeline/report/prove-output.js'
import { FaultServer } from './fault-server.js'
import { type TestFolder, testFolder } from './media-factory.js'
import { readByStranger } from './read-by-stranger.js'
import { makeAuthority } from './signing-authority.js'
import { openTestPipeline, requestFor } from './test-pipeline.js'

/** A file that was regenerated and signed, as verification and two validators see it. */
export interface SignedRow {
  readonly file: string
  /** `signed`, or the code of the refusal. */
  readonly end: string
  readonly carrier: 'embedded' | 'sidecar' | null
  /** State by the package that signed. */
  readonly state: string | null
  /** State by the reader for browsers; null for a sidecar, which it does not take. */
  readonly stranger: string | null
  /** State of the input's own credentials; null if it has none. */
  readonly parent: string | null
  /** Number of kept streams, and those of them whose packets are not the same as in the input. */
  readonly kept: number
  readonly different: number
  /** Codes of C2PA for a mismatch, or the message of the refusal. */
  readonly failures: readonly string[]
}

export interface SignedSweep {
  readonly folder: TestFolder
  sign(path: string): Promise<SignedRow>
  close(): Promise<void>
}

/** Opens a pipeline that signs under a private authority, for many files in a row. */
export async function openSignedSweep(): Promise<SignedSweep> {
  const server = await FaultServer.start()
  const folder = await testFolder()
  const pipeline = await openTestPipeline(server, folder.file('state'))
  const { trust, sign } = makeAuthority(folder.path)
  const context = { ...pipeline.context, credentials: openCredentials(sign('editor')) }
  return {
    folder,
    async sign(path) {
      const file = basename(path)
      const output = folder.file(`signed-${file}`)
      const recipe = { track: 'all' as const }
      const { event } = await runJob(requestFor(path, { output, signed: true, recipe }), context).catch((thrown) => ({
        event: { error: toVoxmuxError(thrown, path) },
      }))
      const none = { carrier: null, state: null, stranger: null, parent: null, kept: 0, different: 0, failures: [] }
      if (event.error) return { file, end: event.error.code, ...none, failures: [event.error.message] }
      try {
        const credentials = (await readReceipt(`${output}.voxmux.json`))?.credentials
        const { container } = await probe(output)
        const sidecar = existsSync(`${output}.c2pa`) ? await readFile(`${output}.c2pa`) : undefined
        const own = await readCredentials(output, container, { trust, sidecar })
        const other = sidecar ? null : await readByStranger(output, readingType(container), trust)
        const { kept } = await proveOutput(output, { input: path })
        return {
          ...{ file, end: 'signed', carrier: credentials?.carrier ?? null, parent: credentials?.parent?.state ?? null },
          ...{ state: own?.state ?? null, stranger: other?.state ?? null, kept: kept.length },
          different: kept.filter(({ packets }) => packets !== 'same').length,
          failures: [...(own?.failures ?? []), ...(other?.failures ?? [])],
        }
      } finally {
        for (const end of ['', '.voxmux.json', '.c2pa']) await rm(output + end, { force: true })
      }
    },
    async close() {
      await pipeline.close()
      await server.close()
      await folder.remove()
    },
  }
}
