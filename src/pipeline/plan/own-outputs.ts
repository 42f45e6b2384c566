import { basename, dirname, extname, join } from 'node:path'
import { UsageError } from '../../core/errors.js'
import { realPathOf } from '../../core/make-folder.js'
import { isWebAddress, shownInput } from '../web-address.js'
import { replacesInput, uncheckedOutputPath } from './output-path.js'
import type { PlanRequest } from './plan-job.js'

/**
 * Requires an output of its own for each job of a list, before any job begins. The second of two jobs with one output
 * would be refused after both were paid for, or would replace the first. With `force`, an output could also replace the
 * input of another job, before or after that is read.
 *
 * @throws {UsageError} `ERR_OUTPUT_SHARED`, `ERR_OUTPUT_IS_INPUT`
 */
export async function requireOwnOutputs(requests: readonly PlanRequest[]): Promise<void> {
  const owners = new Map<string, PlanRequest>()
  for (const request of requests) {
    const output = await expectedOutput(request)
    const owner = owners.get(output)
    if (owner)
      throw sharedOutput(
        `${shownInput(owner.input)} and ${shownInput(request.input)} have the same output: ${output}.`,
        shownInput(request.input),
      )
    owners.set(output, request)
  }
  for (const request of requests) {
    const owner = isWebAddress(request.input) ? undefined : owners.get(await realFolderPath(request.input))
    if (owner?.settings.force) throw outputIsInput(owner, request)
  }
}

function outputIsInput({ input }: PlanRequest, { input: other }: PlanRequest): UsageError {
  if (input === other) throw replacesInput(input)
  const message = `The output of ${shownInput(input)} would replace ${other}, which is an input of the same list.`
  return new UsageError('ERR_OUTPUT_IS_INPUT', message, {
    input: shownInput(input),
    remedies: [`Leave ${basename(other)} out of the list, or name another output with --output.`],
  })
}

/** The error for an output that two inputs have. @param input the second of them */
export function sharedOutput(message: string, input: string): UsageError {
  return new UsageError('ERR_OUTPUT_SHARED', message, {
    input,
    remedies: ['Give each input an output of its own: another folder, or another name.'],
  })
}

/** Path of the output, as far as it is known before the input is read: with the input's extension, if no type is set. */
async function expectedOutput({ input, output, outputStem, settings, cwd }: PlanRequest): Promise<string> {
  // An input that only looks like an address is refused with its own job.
  const isAddress = isWebAddress(input) && URL.canParse(input)
  const path = isAddress ? join(cwd, basename(new URL(input).pathname)) : input
  const extension = settings.outputType === null ? extname(path) : `.${settings.outputType}`
  const label = settings.previewSec === null ? 'regen' : 'preview'
  return realFolderPath(await uncheckedOutputPath({ input: path, output, stem: outputStem, extension, label, cwd }))
}

/** The path through no link of a folder. A link of its own name stays, because an output takes that name. */
export async function realFolderPath(path: string): Promise<string> {
  return join(await realPathOf(dirname(path)), basename(path))
}
