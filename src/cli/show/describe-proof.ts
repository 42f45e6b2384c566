import { basename } from 'node:path'
import type { Colors } from 'picocolors/types.js'
import type { VoxmuxError } from '../../core/errors.js'
import { formatTime } from '../../core/time.js'
import { visibleText } from '../../core/visible-text.js'
import type { CredentialsFound } from '../../credentials/index.js'
import type { KeptStream, OutputProof } from '../../pipeline/report/prove-output.js'
import type { SignatureProof } from '../../pipeline/report/prove-signature.js'
import { remedyLines } from '../output/wording.js'

/** The facts about one file, and the fault that they show. */
export interface Proved {
  readonly proof?: OutputProof | undefined
  readonly signature?: SignatureProof | undefined
  readonly fault?: VoxmuxError | undefined
}

/** The facts of a proof for `--json`. `signature` is null without Content Credentials; without a receipt it is alone. */
export function proofFacts(proof: OutputProof | undefined, signed: SignatureProof | undefined) {
  const unknown = [...(proof?.unknown ?? []), ...(signed?.unknown ?? [])]
  const signature = signed?.found ? { ...signed.found, isInputSame: signed.isInputSame } : null
  if (!proof) return signature && { unknown: [NO_RECEIPT, ...unknown], signature }
  const { receipt, isUnchanged, input, kept } = proof
  const { voxmux, createdAt, segments, tracks, output } = receipt
  return {
    ...{ voxmux, createdAt, isUnchanged, input, kept, unknown, signature },
    sha256: output.sha256,
    replaced: { audioTracks: tracks.map(({ audioIndex }) => audioIndex), segments },
  }
}

const NO_RECEIPT = 'There is no receipt, so the packets of the kept streams are not known.'

/** Describes a proof for people: what is certain, what is wrong, and what could not be known. */
export function describeProof(path: string, { proof, signature, fault }: Proved, colors: Colors): string {
  const signed = signature?.found ?? null
  const unknown = [...(proof?.unknown ?? (signed ? [NO_RECEIPT] : [])), ...(signature?.unknown ?? [])]
  const faults = fault ? [`  ${colors.red('✖')} ${visibleText(fault.message)}`, ...remedyLines(fault.remedies)] : []
  return [
    colors.bold(visibleText(basename(path))),
    ...(proof ? proofLines(proof, colors) : []),
    ...(signed ? signatureLines(signed, colors) : []),
    ...unknown.map((fact) => `  ${colors.dim('–')} ${visibleText(fact)}`),
    ...faults,
  ].join('\n')
}

function signatureLines({ state, signer, generator, signedAt, parents }: CredentialsFound, colors: Colors) {
  if (state === 'invalid') return []
  const trust = state === 'trusted' ? ', whom your trust list vouches for' : ''
  const time = signedAt === null ? '' : ` at ${signedAt}`
  const from = parents.length === 0 ? '' : ` It states as its input: ${parents.join(', ')}.`
  const line = `Signed by ${signer ?? 'an unknown signer'}${trust}${time}, with ${generator ?? 'an unknown program'}, and unchanged since.${from}`
  return [`  ${colors.green('✔')} ${visibleText(line)}`]
}

function proofLines({ receipt, isUnchanged, input, kept }: OutputProof, colors: Colors): readonly string[] {
  const good = colors.green('✔')
  const tracks = receipt.tracks.map(({ audioIndex }) => audioIndex).join(', ')
  const parts = receipt.segments.map(({ startSec, endSec }) => `${formatTime(startSec)}–${formatTime(endSec)}`)
  const same = kept.filter(({ packets }) => packets === 'same')
  const recorded = kept.filter(({ packets }) => packets === 'recorded')
  return [
    `  ${good} voxmux ${visibleText(receipt.voxmux)} made it on ${receipt.createdAt} from ${visibleText(receipt.input.path)}.`,
    ...(isUnchanged ? [`  ${good} Every byte is as it was published (SHA-256 ${receipt.output.sha256}).`] : []),
    ...(input.state === 'same' ? [`  ${good} The input is unchanged: ${visibleText(input.path)}.`] : []),
    `  ${good} ${tracks === '' ? 'Nothing was replaced' : `Replaced: audio track ${tracks} at ${parts.join(', ')}`}.`,
    ...(same.length > 0 ? [`  ${good} The same packets as in the input: ${streamNames(same)}.`] : []),
    ...(recorded.length > 0 ? [`  ${good} The same packets, by the receipt: ${streamNames(recorded)}.`] : []),
  ]
}

function streamNames(streams: readonly KeptStream[]): string {
  return visibleText(
    streams.map(({ kind, outputIndex, codec }) => `${kind} ${outputIndex} (${codec ?? 'unknown'})`).join(', '),
  )
}
