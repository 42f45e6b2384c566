import { stat } from 'node:fs/promises'
import { VerificationError } from '../../../core/errors.js'
import { fileSha256, quickIdentity } from '../../../core/file-identity.js'
import { syncFile } from '../../../core/sync-folder.js'
import { copyPlan } from '../../../media/write/copy-plan.js'
import { bareReceipt } from '../../output/bare-receipt.js'
import type { Receipt } from '../../output/receipt.js'
import type { JobPlan } from '../../plan/plan-job.js'
import type { Attempt } from '../job-life.js'
import type { AssembledOutput } from '../publish-output.js'
import type { SigningFacts } from './sign-part.js'
import { withProofs } from './with-proofs.js'

interface CopyFacts extends Omit<SigningFacts, 'pieces'> {
  /** The voice that was sent all the same; null if nothing was. */
  readonly sent: Pick<Receipt, 'segments' | 'voices' | 'voicelessPaidSec'> | null
}

/**
 * Copies an input that needs nothing to the part file, byte for byte, with a receipt that says why.
 *
 * @throws {VerificationError} `ERR_VERIFY_FAILED` if the copy differs
 */
export async function copiedOutput(
  plan: JobPlan,
  notes: readonly string[],
  { bench, signal, onProgress, job }: Attempt,
  { settings, recipeHash, inputSha256, context, sent }: CopyFacts,
): Promise<AssembledOutput> {
  const { media, output } = plan
  const { part } = bench
  const whole = { pieces: [{ kind: 'input', start: 0, length: (await stat(media.path)).size }] } as const
  const onCopied = (bytes: number) => onProgress('mux', (100 * bytes) / media.sizeBytes)
  await copyPlan(whole, part, { input: media.path, donors: [], signal, onProgress: onCopied })
  onProgress('mux', 100)
  const [sha256] = await Promise.all([fileSha256(part, signal), syncFile(part)])
  if (sha256 !== inputSha256)
    throw new VerificationError('ERR_VERIFY_FAILED', `The copy of ${media.path} differs from it.`, {
      input: media.path,
      remedies: ['Run again. If this repeats, check the disk of the output.'],
    })
  onProgress('verify', 100)
  const identity = await quickIdentity(media.path)
  const receipt: Receipt = {
    ...(await bareReceipt({ jobId: job.id, settings, recipeHash, context })),
    input: { path: media.path, sizeBytes: media.sizeBytes, sha256, mtimeMs: identity.mtimeMs },
    output: { path: output, sizeBytes: (await stat(part)).size, sha256, container: media.container },
    streams: media.streams.map(({ index, kind, codec }) => ({
      ...{ index, outputIndex: index, kind, codec: codec ?? null },
      ...{ fate: 'copied', packetHash: null, reason: null },
    })),
    chapters: media.chapters.length,
    ...sent,
    notes: [...notes, ...(settings.signed ? ['It is not signed again, because nothing in it changed.'] : [])],
    verification: { level: 'full', passed: true, checks: ['every byte is that of the input'] },
  }
  return {
    receipt: await withProofs(receipt, settings, sent && media, { bench, signal }),
    inputIdentity: { ...identity, sha256 },
  }
}
