import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import picocolors from 'picocolors'
import {
  type ExitCode,
  errorReport,
  overallExitCode,
  toVoxmuxError,
  UsageError,
  type VoxmuxError,
} from '../../core/errors.js'
import type { FileEvent } from '../../pipeline/events.js'
import { expandOutputs } from '../../pipeline/plan/expand-inputs.js'
import { faultOf, type OutputProof, type ProveOptions, proveOutput } from '../../pipeline/report/prove-output.js'
import { RUN_OPTIONS, withOptions } from '../arguments/run-options.js'
import { defineCommand } from '../command.js'
import { describeProof, proofFacts } from '../show/describe-proof.js'

/** `voxmux verify <file…>` */
export const command = defineCommand({
  positionals: '<file..>',
  examples: [
    ['clip.regen.mov', 'is it an output of voxmux, and unchanged?'],
    ['clip.regen.mov --input /archive/clip.mov', 'compare the kept streams with this input'],
    ['out --json', 'one `file` event for each output in a folder'],
  ],
  build: (parser) =>
    withOptions(
      parser.positional('file', { type: 'string', array: true, demandOption: true, describe: 'Outputs, or folders' }),
      {
        input: { type: 'string', requiresArg: true, describe: 'The input it was made from (default: see the receipt)' },
        receipt: { type: 'string', requiresArg: true, describe: 'The receipt (default: the one beside the output)' },
        json: RUN_OPTIONS.json,
      },
    ),
  run: async ({ file: files, input, receipt }, { cwd, signal, output }) => {
    const outputs = await expandOutputs(files, cwd)
    if (outputs.length > 1 && (input !== undefined || receipt !== undefined)) throw oneOutputOnly()
    const colors = picocolors.createColors(process.stdout.isTTY === true && picocolors.isColorSupported)
    const named = { input: input && resolve(cwd, input), receipt: receipt && resolve(cwd, receipt) }
    const events: FileEvent[] = []
    const codes: ExitCode[] = []
    for (const path of outputs) {
      const { proof, fault } = await proved(path, { ...named, signal })
      const event = {
        event: 'file' as const,
        id: proof?.receipt.job ?? randomUUID(),
        input: path,
        status: fault ? ('failed' as const) : ('done' as const),
        output: path,
        receipt: proof?.receiptPath ?? null,
        error: fault ? errorReport(fault) : null,
        proof: proof ? proofFacts(proof) : null,
      }
      output.event(event)
      output.print(describeProof(path, proof, fault, colors))
      events.push(event)
      codes.push(fault?.exitCode ?? 0)
    }
    const exitCode = overallExitCode(codes)
    output.result({ exitCode, files: events })
    return exitCode
  },
})

interface Proved {
  readonly proof?: OutputProof
  readonly fault?: VoxmuxError | undefined
}

/** Throws only when it is aborted: one bad file must not hide the others. */
async function proved(path: string, options: ProveOptions): Promise<Proved> {
  try {
    const proof = await proveOutput(path, options)
    return { proof, fault: faultOf(path, proof, options.input !== undefined) }
  } catch (thrown) {
    const fault = toVoxmuxError(thrown, path)
    if (fault.exitCode === 130) throw fault
    return { fault }
  }
}

function oneOutputOnly(): UsageError {
  return new UsageError('ERR_USAGE', '--input and --receipt belong to one output, and several are named.', {
    remedies: ['Name one output, or leave both options out.'],
  })
}
