import { rename, stat } from 'node:fs/promises'
import type { HeldJob, JobCheckpoint } from '../../ledger/index.js'
import { publish } from '../output/publish.js'
import { type Receipt, writeReceipt } from '../output/receipt.js'
import { receiptPath, sidecarPath } from '../plan/output-path.js'
import { publishReport } from '../report/write-report.js'
import type { Workbench } from './workbench.js'

/** A complete and verified part file. */
export interface AssembledOutput {
  /** The final receipt, except for the publish method. */
  readonly receipt: Receipt
  /** Null if the input cannot be read here. */
  readonly inputIdentity: NonNullable<JobCheckpoint['inputIdentity']> | null
}

interface PublishOutputOptions {
  readonly bench: Workbench
  /** An existing file with the output's name is replaced. */
  readonly replace: boolean
  /** Writes into the ledger. Throws if another process has taken over the job. */
  readonly checkpoint: HeldJob['checkpoint']
}

/**
 * Publishes an output with its report and its receipt. The ledger stores the part's SHA-256 and its receipt before the
 * file gets its name, so that a file found after a crash is adopted.
 *
 * @returns the receipt as published
 * @throws {UsageError} `ERR_OUTPUT_EXISTS`
 */
export async function publishOutput(
  { receipt, inputIdentity }: AssembledOutput,
  output: string,
  { bench, replace, checkpoint }: PublishOutputOptions,
): Promise<Receipt> {
  const method = await publish(bench.part, output, {
    replace,
    mayPublish: async () => {
      await bench.requireSamePlace()
      const publishedSha256 = receipt.output.sha256
      await checkpoint({ output, publishedSha256, state: { receipt }, inputIdentity: inputIdentity ?? undefined })
      // Before the output, so that no reader sees a file that seems unsigned.
      if (receipt.credentials?.carrier === 'sidecar') await rename(bench.sidecarPart, sidecarPath(output))
    },
  })
  if (receipt.report !== null) await publishReport(bench.reportPart, output)
  const published = { ...receipt, publish: method }
  await writeReceipt(receiptPath(output), published, bench.receiptPart)
  await bench.requireSamePlace()
  await checkpoint({ state: { outputMtimeMs: Math.round((await stat(output)).mtimeMs) } })
  return published
}
