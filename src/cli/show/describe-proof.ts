import { basename } from 'node:path'
import type { Colors } from 'picocolors/types.js'
import type { VoxmuxError } from '../../core/errors.js'
import { formatTime } from '../../core/time.js'
import { visibleText } from '../../core/visible-text.js'
import type { KeptStream, OutputProof } from '../../pipeline/report/prove-output.js'

/** The facts of a proof for `--json`. `signature` is null: a receipt is not signed. */
export function proofFacts({ receipt, isUnchanged, input, kept, unknown }: OutputProof) {
  const { voxmux, createdAt, segments, tracks, output } = receipt
  return {
    ...{ voxmux, createdAt, isUnchanged, input, kept, unknown, signature: null },
    sha256: output.sha256,
    replaced: { audioTracks: tracks.map(({ audioIndex }) => audioIndex), segments },
  }
}

/** Describes a proof for people: what is certain, what is wrong, and what could not be known. */
export function describeProof(
  path: string,
  proof: OutputProof | undefined,
  fault: VoxmuxError | undefined,
  colors: Colors,
): string {
  const lines = proof ? proofLines(proof, colors) : []
  const faults = fault ? [`  ${colors.red('✖')} ${visibleText(fault.message)}`, ...fault.remedies.map(remedyLine)] : []
  return [colors.bold(visibleText(basename(path))), ...lines, ...faults].join('\n')
}

function proofLines({ receipt, isUnchanged, input, kept, unknown }: OutputProof, colors: Colors): readonly string[] {
  const good = colors.green('✔')
  const tracks = receipt.tracks.map(({ audioIndex }) => audioIndex).join(', ')
  const parts = receipt.segments.map(({ startSec, endSec }) => `${formatTime(startSec)}–${formatTime(endSec)}`)
  const same = kept.filter(({ packets }) => packets === 'same')
  const recorded = kept.filter(({ packets }) => packets === 'recorded')
  return [
    `  ${good} voxmux ${receipt.voxmux} made it on ${receipt.createdAt} from ${visibleText(receipt.input.path)}.`,
    ...(isUnchanged ? [`  ${good} Every byte is as it was published (SHA-256 ${receipt.output.sha256}).`] : []),
    ...(input.state === 'same' ? [`  ${good} The input is unchanged: ${visibleText(input.path)}.`] : []),
    `  ${good} ${tracks === '' ? 'Nothing was replaced' : `Replaced: audio track ${tracks} at ${parts.join(', ')}`}.`,
    ...(same.length > 0 ? [`  ${good} The same packets as in the input: ${streamNames(same)}.`] : []),
    ...(recorded.length > 0 ? [`  ${good} The same packets, by the receipt: ${streamNames(recorded)}.`] : []),
    ...unknown.map((fact) => `  ${colors.dim('–')} ${visibleText(fact)}`),
  ]
}

function streamNames(streams: readonly KeptStream[]): string {
  return streams.map(({ kind, outputIndex, codec }) => `${kind} ${outputIndex} (${codec ?? 'unknown'})`).join(', ')
}

function remedyLine(remedy: string): string {
  return `    → ${visibleText(remedy)}`
}
