import { basename, dirname, join } from 'node:path'
import { TransientError } from '../../core/errors.js'
import { nearestExisting } from '../../core/make-folder.js'
import type { HeldJob } from '../../ledger/index.js'
import { realFolderPath, sharedOutput } from '../plan/own-outputs.js'
import { foldsCase } from './writable-folder.js'

/**
 * Takes an output for a job before it pays, until its lease ends.
 *
 * @throws {UsageError} `ERR_OUTPUT_SHARED` if another job of the ledger is making that output of another input
 * @throws {TransientError} `ERR_OUTPUT_BUSY` if it makes it of the same input with other settings
 */
export async function takeOutput({ job: { input }, takeOutput: take }: HeldJob, output: string): Promise<void> {
  const path = await realFolderPath(output)
  const other = (await take(path)) ?? (await takeSpellings(path, take))
  if (other === input) throw busyOutput(input, output)
  if (other !== null) throw sharedOutput(`${other} and ${input} have the same output: ${output}.`, input)
}

/** Takes a name for all its spellings if they are one file. */
async function takeSpellings(path: string, take: HeldJob['takeOutput']): Promise<string | null> {
  const folder = dirname(path)
  const folded = join(folder, basename(path).normalize('NFC').toLowerCase())
  return (await foldsCase(await nearestExisting(folder))) ? take(folded) : null
}

function busyOutput(input: string, output: string): TransientError {
  return new TransientError('ERR_OUTPUT_BUSY', `Another process is making ${output} of ${input} with other settings.`, {
    input,
    remedies: ['Wait until it ends and add --force to replace its output, or choose another name with --output.'],
  })
}
