import { dirname, isAbsolute } from 'node:path'
import type { Config, Flags } from '../config/resolve-config.js'
import { UsageError } from '../core/errors.js'
import { redactUrl } from '../core/redact.js'
import { isWebAddress } from './expand-inputs.js'
import type { JobRequestFile } from './job-request-schema.js'
import { settingsOfConfig } from './job-settings.js'
import type { JobOrder } from './queued-order.js'

/** The settings that a written job makes, for `resolveConfig`; what it does not say is absent. */
export function flagsOfRequest({ preset, track, channels, outputType, keepOriginal }: JobRequestFile): Flags {
  const settings = { preset, track, channels, outputType, keepOriginal }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Flags
}

/**
 * Makes an order for the queue of a job that another program wrote down.
 *
 * @param configOf resolves the configuration with flags on top
 * @throws UsageError for paths that are not absolute, and what `configOf` throws
 */
export async function orderOfRequest(
  request: JobRequestFile,
  group: string,
  configOf: (flags: Flags) => Promise<Config>,
): Promise<JobOrder> {
  const { input, output = defaultOutput(input), segments = [], force = false } = request
  const config = await configOf(flagsOfRequest(request))
  return { input, output, group, settings: settingsOfConfig(config, { segments, force, previewSec: null }) }
}

/** Beside the input, as everywhere. */
function defaultOutput(input: string): string {
  if (isAbsolute(input)) return `${dirname(input)}/`
  if (isWebAddress(input)) {
    throw new UsageError('ERR_ORDER_WITHOUT_OUTPUT', `Where does the output of ${redactUrl(input)} go?`, {
      remedies: ['Name an "output": a file, or a folder with a slash at its end.'],
    })
  }
  throw new UsageError('ERR_ORDER_RELATIVE', `${input} is not an absolute path: a worker runs in another folder.`, {
    input,
    remedies: ['Write the whole path.'],
  })
}
