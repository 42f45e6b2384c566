import { basename, extname, join } from 'node:path'
import { UsageError } from '../core/errors.js'
import { isWebAddress } from '../pipeline/plan/expand-inputs.js'
import { outputPlace } from '../pipeline/plan/output-path.js'
import type { PlanRequest } from '../pipeline/plan/plan-job.js'

/**
 * Requires an output of its own for each job of a list, before any job begins. Two jobs with one output would end with
 * a fault after both were paid for.
 *
 * @throws {UsageError} `ERR_OUTPUT_SHARED`
 */
export async function requireOwnOutputs(requests: readonly PlanRequest[]): Promise<void> {
  const owners = new Map<string, number>()
  for (const [index, request] of requests.entries()) {
    const output = await expectedOutput(request)
    const owner = owners.get(output)
    if (owner !== undefined) {
      throw new UsageError('ERR_OUTPUT_SHARED', `Jobs ${owner + 1} and ${index + 1} have the same output: ${output}.`, {
        input: request.input,
        remedies: ['Give each job an "output" of its own, or take one of the two out of the list.'],
      })
    }
    owners.set(output, index)
  }
}

/** Path of the output, as far as it is known before the input is read: with the input's extension. */
function expectedOutput({ input, output, cwd }: PlanRequest): Promise<string> {
  const path = isWebAddress(input) ? join(cwd, basename(new URL(input).pathname)) : input
  return outputPlace({ input: path, output, extension: extname(path), label: 'regen', cwd })
}
