import { stat } from 'node:fs/promises'
import { UsageError, VerificationError } from '../../core/errors.js'
import { hasBytes } from '../../core/file-identity.js'
import { unreadableFile } from '../../core/unreadable-file.js'
import { hashPackets, type MediaInfo, probe } from '../../media/index.js'
import { type Receipt, readReceipt, type StreamFate } from '../output/receipt.js'
import { outputOfReceipt, receiptPath } from '../plan/output-path.js'

export interface ProveOptions {
  /** The file from which the output was made; default: the path in the receipt. */
  readonly input?: string | undefined
  /** The receipt; default: the one beside the output. */
  readonly receipt?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** A stream that the output has from the input, and whether its packets are the same. */
export interface KeptStream extends Pick<StreamFate, 'index' | 'outputIndex' | 'kind' | 'codec'> {
  /** `recorded`: the receipt says so, and the input was not there to compare. */
  readonly packets: 'same' | 'different' | 'recorded' | 'unknown'
}

/** The facts that could be established about an output, without a network and without trust in its own tags. */
export interface OutputProof {
  readonly receiptPath: string
  readonly receipt: Receipt
  /** True if the file has the bytes that were published. */
  readonly isUnchanged: boolean
  /** `changed`: the file at this path is not the one that was regenerated. `remote`: voxmux never had it. */
  readonly input: { readonly path: string; readonly state: 'same' | 'changed' | 'missing' | 'remote' }
  readonly kept: readonly KeptStream[]
  /** Facts that could not be established, as sentences. */
  readonly unknown: readonly string[]
}

/**
 * Establishes which input an output comes from, and whether it was changed since it was published. If the input is
 * there, the packets of the kept streams are compared with it.
 *
 * @throws {UsageError} `ERR_INPUT_MISSING`
 * @throws {VerificationError} `ERR_RECEIPT_MISSING`
 */
export async function proveOutput(output: string, options: ProveOptions): Promise<OutputProof> {
  const { signal } = options
  for (const path of [output, options.input]) if (path !== undefined) await requireFile(path)
  const path = options.receipt ?? receiptPath(output)
  const receipt = await readReceipt(path)
  if (!receipt) throw await receiptMissing(output, path)
  const isUnchanged = await hasBytes(output, receipt.output, signal)
  const input = await inputState(receipt, options)
  const kept = await keptStreams(output, { receipt, isUnchanged, input }, signal)
  return { receiptPath: path, receipt, isUnchanged, input, kept, unknown: unknownFacts(receipt, input, kept) }
}

/**
 * The fault that a proof shows; undefined if the output is what its receipt says.
 *
 * @param isInputGiven true if a person named the input: another file is then a fault, and not only unknown
 */
export function faultOf(output: string, proof: OutputProof, isInputGiven: boolean): VerificationError | undefined {
  const { kept, isUnchanged, input } = proof
  const different = kept.filter(({ packets }) => packets === 'different')
  if (different.length > 0) {
    const names = different.map(({ kind, outputIndex }) => `${kind} stream ${outputIndex}`).join(', ')
    return new VerificationError('ERR_PACKETS_DIFFER', `${output} has other packets than its input in ${names}.`, {
      input: output,
      remedies: ['Do not use this file. Regenerate the input again.'],
    })
  }
  if (!isUnchanged)
    return new VerificationError('ERR_OUTPUT_CHANGED', `${output} was changed after voxmux published it.`, {
      input: output,
      remedies: ['Restore the file from a copy, or regenerate the input again.'],
    })
  if (isInputGiven && input.state === 'changed')
    return new VerificationError('ERR_INPUT_DIFFERS', `${output} was not made from ${input.path}.`, {
      input: output,
      remedies: [`Name the file that the receipt describes: ${proof.receipt.input.path}.`],
    })
  return undefined
}

async function inputState({ input }: Receipt, options: ProveOptions): Promise<OutputProof['input']> {
  const path = options.input ?? input.path
  if (input.sha256 === null) return { path, state: 'remote' }
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) return { path, state: 'missing' }
  return { path, state: (await hasBytes(path, input, options.signal)) ? 'same' : 'changed' }
}

/** Kinds of streams that have packets in every container. */
const PACKETS: ReadonlySet<StreamFate['kind']> = new Set(['video', 'audio', 'subtitle'])

/** Compares the packets themselves if the input is there. A receipt alone proves them only for an unchanged file. */
async function keptStreams(
  output: string,
  { receipt, isUnchanged, input }: Pick<OutputProof, 'receipt' | 'isUnchanged' | 'input'>,
  signal: AbortSignal | undefined,
): Promise<readonly KeptStream[]> {
  // A copy of the whole file has the hash of its bytes instead of those of its packets.
  const isCopy = receipt.input.sha256 === receipt.output.sha256
  const copied = receipt.streams.filter(
    ({ fate, packetHash, kind }) => fate === 'copied' && (packetHash !== null || (isCopy && PACKETS.has(kind))),
  )
  const without = isUnchanged ? ('recorded' as const) : ('unknown' as const)
  const [before, after] =
    input.state === 'same' ? await bothHashed(input.path, output, copied, signal) : ([[], []] as const)
  return copied.map(({ index, outputIndex, kind, codec }, place) => {
    const [was, is] = [before[place], after[place]]
    const packets = was === undefined ? without : was === is ? 'same' : 'different'
    return { index, outputIndex, kind, codec, packets }
  })
}

async function bothHashed(
  input: string,
  output: string,
  streams: readonly StreamFate[],
  signal: AbortSignal | undefined,
): Promise<readonly [before: readonly (string | undefined)[], after: readonly (string | undefined)[]]> {
  const from = await probe(input, { signal })
  // A changed file may no longer be media at all: its packets are then not the input's.
  const to = await probe(output, { signal }).catch((): MediaInfo | null => null)
  const containers = { from: from.container, to: to?.container ?? from.container }
  const of = (side: 'index' | 'outputIndex') =>
    streams.map((stream) => ({ index: stream[side] ?? 0, codec: stream.codec }))
  const before = await hashPackets(from, of('index'), containers, signal)
  if (to === null || streams.some(({ outputIndex }) => to.streams[outputIndex ?? 0] === undefined)) return [before, []]
  return [before, await hashPackets(to, of('outputIndex'), containers, signal)]
}

function unknownFacts({ input }: Receipt, { path, state }: OutputProof['input'], kept: readonly KeptStream[]) {
  const facts: string[] = []
  if (state === 'missing') facts.push(`The input ${path} is not there. Name it with --input to compare the packets.`)
  if (state === 'changed')
    facts.push(`${path} is not the file that was regenerated, so the packets cannot be compared.`)
  if (state === 'remote') facts.push(`The service fetched ${input.path} itself, so the input is not known.`)
  if (kept.some(({ packets }) => packets === 'unknown')) facts.push('The packets of the kept streams are not known.')
  facts.push('The receipt is not signed, so it proves nothing against a person who can write files here.')
  return facts
}

async function requireFile(path: string): Promise<void> {
  const found = await stat(path).catch((cause: unknown) => {
    throw unreadableFile('ERR_INPUT_MISSING', path, cause)
  })
  if (found.isFile()) return
  throw new UsageError('ERR_INPUT_MISSING', `${path} is not a file.`, {
    input: path,
    remedies: ['Check the spelling of the path. Relative paths start at the working folder.'],
  })
}

async function receiptMissing(output: string, path: string): Promise<VerificationError> {
  const isThere = (await stat(path).catch(() => undefined)) !== undefined
  const why = isThere ? 'is not a receipt of a file, or cannot be read' : 'does not exist'
  const file = outputOfReceipt(output)
  return new VerificationError('ERR_RECEIPT_MISSING', `${output} has no receipt of voxmux: ${path} ${why}.`, {
    input: output,
    remedies: [
      file === undefined
        ? 'Name the receipt with --receipt. Without one, nothing shows who made the file.'
        : `This is the receipt. Name its file: ${file}`,
    ],
  })
}
