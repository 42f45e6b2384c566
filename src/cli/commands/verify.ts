import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import {
  type ExitCode,
  errorReport,
  overallExitCode,
  toVoxmuxError,
  UsageError,
  VerificationError,
} from '../../core/errors.js'
import type { FileEvent } from '../../pipeline/events.js'
import { expandOutputs, isMediaName } from '../../pipeline/plan/expand-inputs.js'
import { faultOf, type OutputProof, type ProveOptions, proveOutput } from '../../pipeline/report/prove-output.js'
import {
  besideReceipt,
  type ProveSignatureOptions,
  proveSignature,
  type SignatureProof,
  signatureFault,
} from '../../pipeline/report/prove-signature.js'
import { text } from '../arguments/option.js'
import { RUN_OPTIONS, withOptions } from '../arguments/run-options.js'
import { type CommandContext, defineCommand } from '../command.js'
import { colorsOf } from '../output/wording.js'
import { describeProof, type Proved, proofFacts } from '../show/describe-proof.js'

/** `voxmux verify <file…>` */
export const command = defineCommand({
  positionals: '<file..>',
  examples: [
    ['clip.regen.mov', 'check that it is an unchanged output of voxmux'],
    ['clip.regen.mov --input /archive/clip.mov', 'compare the kept streams with this input'],
    ['clip.regen.mov --trust house-ca.pem', 'check that an authority in this list vouches for its signer'],
    ['out --json', 'one `file` event for each output in a folder'],
  ],
  build: (parser) =>
    withOptions(
      parser.positional('file', { type: 'string', array: true, demandOption: true, describe: 'Outputs, or folders' }),
      {
        input: text('The input it was made from (default: see the receipt)'),
        receipt: text('The receipt (default: the one beside the output)'),
        trust: {
          ...{ type: 'string', requiresArg: true },
          describe: 'PEM file of the authorities whose Content Credentials you trust',
        },
        json: RUN_OPTIONS.json,
      },
    ),
  run: async ({ file: files, input, receipt, trust }, { cwd, signal, output }) => {
    const outputs = await withoutTimelines(await expandOutputs(files, cwd), output)
    if (outputs.length > 1 && (input !== undefined || receipt !== undefined)) throw oneOutputOnly()
    const colors = colorsOf(process.stdout)
    const of = (path: string | undefined) => path && resolve(cwd, path)
    const named = { input: of(input), receipt: of(receipt), trust: of(trust) }
    const events: FileEvent[] = []
    const codes: ExitCode[] = []
    for (const path of outputs) {
      const { proof, signature, fault } = await proved(path, { ...named, signal })
      const event = {
        event: 'file' as const,
        id: proof?.receipt.job ?? randomUUID(),
        input: path,
        status: fault ? ('failed' as const) : ('done' as const),
        output: path,
        receipt: proof?.receiptPath ?? null,
        error: fault ? errorReport(fault) : null,
        proof: proofFacts(proof, signature),
      }
      output.event(event)
      output.print(describeProof(path, { proof, signature, fault }, colors))
      events.push(event)
      codes.push(fault?.exitCode ?? 0)
    }
    const exitCode = overallExitCode(codes)
    output.result({ exitCode, files: events })
    return exitCode
  },
})

/** Puts the new media of a timeline in its place, because the receipts of these have the proof. */
async function withoutTimelines(paths: readonly string[], output: CommandContext['output']) {
  const expanded: string[] = []
  for (const path of paths) {
    const media = isMediaName(path) ? undefined : await mediaOf(path)
    if (media) output.note(`${path} is a timeline. The proof is that of the media that it plays.`)
    expanded.push(...(media ?? [path]))
  }
  return [...new Set(expanded)]
}

async function mediaOf(path: string): Promise<readonly string[] | undefined> {
  const { mediaOfTimeline } = await import('../../../plugins/timelines/index.js')
  return mediaOfTimeline(path)
}

/** Proves a file by receipt, Content Credentials or both. Throws only if aborted: others must still be proved. */
async function proved(path: string, options: ProveOptions & ProveSignatureOptions): Promise<Proved> {
  const found: { proof?: OutputProof; signature?: SignatureProof } = {}
  try {
    const byReceipt = await proveOutput(path, options).catch((error: unknown) => {
      if (error instanceof VerificationError && error.code === 'ERR_RECEIPT_MISSING') return error
      throw error
    })
    if (!(byReceipt instanceof VerificationError)) found.proof = byReceipt
    const signature = await proveSignature(path, options)
    found.signature = found.proof ? besideReceipt(signature, found.proof.receipt) : signature
    const isTrustAsked = options.trust !== undefined
    const fault = found.proof && faultOf(path, found.proof, options.input !== undefined)
    // Without a receipt, the signature alone says who made the file.
    const missing = byReceipt instanceof VerificationError && found.signature.found === null ? byReceipt : undefined
    return { ...found, fault: fault ?? signatureFault(path, found.signature, isTrustAsked) ?? missing }
  } catch (thrown) {
    const fault = toVoxmuxError(thrown, path)
    if (fault.exitCode === 130) throw fault
    return { ...found, fault }
  }
}

function oneOutputOnly(): UsageError {
  return new UsageError('ERR_USAGE', '--input and --receipt belong to one output, and several are named.', {
    remedies: ['Name one output, or leave both options out.'],
  })
}
