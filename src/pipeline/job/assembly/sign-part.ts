import { rm } from 'node:fs/promises'
import { tmpdir, totalmem } from 'node:os'
import { basename } from 'node:path'
import { PrecheckError, UsageError } from '../../../core/errors.js'
import { type SignedFacts, SPOOLED_BYTES } from '../../../credentials/index.js'
import type { PipelineContext } from '../../context.js'
import { requireFreeSpace } from '../../output/free-space.js'
import type { Receipt } from '../../output/receipt.js'
import { segmentsOf } from '../../output/receipt-of.js'
import type { JobSettings } from '../../plan/job-settings.js'
import type { JobPlan } from '../../plan/plan-job.js'
import type { ObtainedPiece } from '../../voice/obtain-voices.js'
import type { Workbench } from '../workbench.js'

/** Memory of a signature: 0.55 GB measured with 0.5.5 at 2 GB, nearly all of it blocks that are hashed. */
const MEMORY_BYTES = 0.7e9
/** Memory that the package takes besides for each byte of a WAV, which it reads whole: 2.0 measured. */
const WAVE_MEMORY_PER_BYTE = 2

/** Facts of a job that its Content Credentials state. */
export interface SigningFacts {
  readonly settings: JobSettings
  readonly recipeHash: string
  readonly inputSha256: string
  readonly pieces: readonly ObtainedPiece[]
  readonly context: PipelineContext
}

/**
 * Proves before anything is sent that the output can be signed, if the job wants that.
 *
 * @param file size of the input in bytes, and container of the output
 * @param memoryBytes of this machine or container
 * @throws {UsageError} `ERR_CREDENTIALS_MISSING` and those of `Credentials.require`
 * @throws {PrecheckError} `ERR_CREDENTIALS_MEMORY`
 * @throws {TransientError} `ERR_DISK_FULL`
 */
export async function requireCredentials(
  settings: Pick<JobSettings, 'signed'>,
  { credentials }: Pick<PipelineContext, 'credentials'>,
  file: { readonly sizeBytes: number; readonly container: string },
  memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
): Promise<void> {
  if (!settings.signed) return
  const needed = memoryOf(file)
  if (needed > memoryBytes) throw tooLarge(file.sizeBytes, needed, memoryBytes)
  if (file.sizeBytes > SPOOLED_BYTES) await requireFreeSpace(new Map([[tmpdir(), 2 * file.sizeBytes]]))
  if (credentials) return credentials.require()
  throw new UsageError('ERR_CREDENTIALS_MISSING', 'The job needs Content Credentials, and this machine has none.', {
    remedies: ['Set `credentials` in the configuration of every worker of the store.'],
  })
}

function memoryOf({ sizeBytes, container }: { readonly sizeBytes: number; readonly container: string }): number {
  // A small file has less to hash. 5 is the most that was measured for each of its bytes.
  if (container !== 'wav') return Math.min(5 * sizeBytes, MEMORY_BYTES)
  return Math.min(5 * sizeBytes, MEMORY_BYTES + WAVE_MEMORY_PER_BYTE * sizeBytes)
}

function tooLarge(sizeBytes: number, needed: number, memoryBytes: number): PrecheckError {
  const [has, needs, holds] = [sizeBytes, needed, memoryBytes].map((size) => (size / 1e9).toFixed(1))
  const message = `Signing a file of ${has} GB takes up to ${needs} GB of memory, and this machine has ${holds} GB.`
  return new PrecheckError('ERR_CREDENTIALS_MEMORY', message, {
    remedies: ['Use a machine with more memory, or leave `credentials` out of the configuration for this file.'],
  })
}

/** Signs a finished part file, before it is verified. Null if the job wants no signature. */
export async function signPart(
  plan: JobPlan,
  { settings, recipeHash, inputSha256, pieces, context }: SigningFacts,
  { bench, signal }: { readonly bench: Workbench; readonly signal: AbortSignal },
): Promise<Receipt['credentials']> {
  const { credentials, isEmbedded } = context
  if (!settings.signed || !credentials) return null
  // The part is written again if its joints do not hold.
  await rm(bench.sidecarPart, { force: true })
  const { media, output, mux } = plan
  const facts: SignedFacts = {
    output: basename(output),
    sourceType:
      credentials.sourceType ?? (isEmbedded ? 'algorithmicallyEnhanced' : 'compositeWithTrainedAlgorithmicMedia'),
    input: { name: basename(media.path), sha256: inputSha256 },
    recipeHash,
    preset: settings.preset,
    model: settings.recipe.voice.model,
    segments: segmentsOf(pieces),
    tracks: tracksOf(pieces),
  }
  const parent = plan.inputCredentials
  const signed = await credentials.sign({
    ...{ path: bench.part, container: mux.container, sidecarPart: bench.sidecarPart, facts, signal },
    parent: { path: media.path, container: media.container, isSigned: parent !== null },
    level: settings.recipe.verify,
  })
  return { ...signed, parent: parent && { state: parent.state, signer: parent.signer, failures: [...parent.failures] } }
}

/** The tracks that hold regenerated audio, and its channels. */
function tracksOf(pieces: readonly ObtainedPiece[]): SignedFacts['tracks'] {
  const channels = new Map<number, number[]>()
  for (const { audioIndex, channels: picked } of pieces.map(({ plan }) => plan)) {
    channels.set(audioIndex, [...(channels.get(audioIndex) ?? []), ...(picked.kind === 'one' ? [picked.channel] : [])])
  }
  return [...channels].map(([audioIndex, own]) => ({ audioIndex, channels: own.length > 0 ? [...new Set(own)] : null }))
}
