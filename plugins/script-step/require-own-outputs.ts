import { stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve, sep } from 'node:path'
import { type PlanRequest, UsageError } from 'voxmux'

/**
 * Makes sure that each job of a list has an output of its own, before anything is begun: otherwise the later would
 * find that of the earlier in its way, after it was paid for.
 *
 * @throws UsageError `ERR_OUTPUT_SHARED`
 */
export async function requireOwnOutputs(requests: readonly PlanRequest[]): Promise<void> {
  const owners = new Map<string, number>()
  for (const [index, request] of requests.entries()) {
    const output = await outputPlace(request)
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

/** Where the output goes, as far as it can be told before the file is read: what stands for its name is the input's. */
async function outputPlace({ input, output, cwd }: PlanRequest): Promise<string> {
  const isWeb = /^https?:/i.test(input)
  const source = isWeb ? new URL(input).pathname : input
  const ownName = `${basename(source, extname(source))}.regen${extname(source)}`
  if (output === undefined) return join(isWeb ? cwd : dirname(input), ownName)
  const place = resolve(cwd, output)
  const isFolder = output.endsWith('/') || output.endsWith(sep) || (await isDirectory(place))
  return isFolder ? join(place, ownName) : place
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
