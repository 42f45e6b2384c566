import { dirname, isAbsolute, resolve } from 'node:path'
import { z } from 'zod'
import { checkSchema } from '../../config/check-schema.js'
import {
  addTrackSchema,
  bedSchema,
  mixSchema,
  onlyNoisySchema,
  qcSchema,
  skipCleanSchema,
} from '../../config/preset-schema.js'
import type { Config, Flags } from '../../config/resolve-config.js'
import { outputTypeSchema } from '../../contract/index.js'
import { UsageError } from '../../core/errors.js'
import { redactUrl } from '../../core/redact.js'
import { sortableId } from '../../ledger/index.js'
import { channelsChoiceSchema, trackChoiceSchema } from '../../precheck/choices.js'
import { settingsOfConfig } from '../plan/job-settings.js'
import type { PlanRequest } from '../plan/plan-job.js'
import { segmentSchema } from '../plan/segments.js'
import { isWebAddress } from '../web-address.js'
import type { QueuedFile } from './queued-file.js'

/** A job that another program wrote, for `voxmux step` and for the spool folder of `voxmux worker`. */
export const jobRequestSchema = z.strictObject({
  input: z.string().min(1).meta({ description: 'Path or https address of the file.' }),
  output: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'File, or folder with a slash at its end; by default beside the input.' }),
  preset: z.string().min(1).optional().meta({ description: 'Name or path of a preset.' }),
  segments: z
    .array(segmentSchema)
    .optional()
    .meta({ description: 'Parts to regenerate, each by seconds, chapter or timecode; by default the whole file.' }),
  track: trackChoiceSchema.optional(),
  channels: channelsChoiceSchema.optional(),
  outputType: outputTypeSchema.optional().meta({ description: 'Format of the output of an audio file.' }),
  mix: mixSchema.optional(),
  bed: bedSchema.optional(),
  onlyNoisy: onlyNoisySchema.optional(),
  skipClean: skipCleanSchema.optional(),
  qc: qcSchema.optional(),
  keepOriginal: z.boolean().optional().meta({ description: 'Keep the original track as a second one, labelled.' }),
  addTrack: addTrackSchema.optional(),
  force: z.boolean().optional().meta({ description: 'Process a finished job again and overwrite its output.' }),
})
export type JobRequestFile = z.infer<typeof jobRequestSchema>

/** The JSON Schema of a job or a list of jobs, for editors and other languages. */
export function jobRequestJsonSchema(): object {
  const { $schema, ...job } = z.toJSONSchema(jobRequestSchema, { io: 'input', unrepresentable: 'any' })
  return {
    $schema,
    title: 'A job of `voxmux step`, or a list of them',
    anyOf: [{ $ref: '#/$defs/job' }, { type: 'array', minItems: 1, items: { $ref: '#/$defs/job' } }],
    $defs: { job },
  }
}

/**
 * Validates jobs that another program wrote: one, or a list. A single fault rejects them all.
 *
 * @param value the parsed JSON
 * @throws UsageError `ERR_JOB_REQUEST`, with the job, each wrong key and the nearest right one, and each wrong value
 */
export function readJobRequests(value: unknown): readonly JobRequestFile[] {
  if (!Array.isArray(value)) return [readJobRequest(value, 'The job')]
  if (value.length === 0) throw wrong('The list of jobs is empty.')
  if (value.length === 1) return [readJobRequest(value[0], 'The job')]
  return value.map((job, index) => readJobRequest(job, `Job ${index + 1} of ${value.length}`))
}

function readJobRequest(value: unknown, source: string): JobRequestFile {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrong(`${source} must be an object such as {"input":"take.wav"}.`)
  }
  try {
    return checkSchema(jobRequestSchema, value, source)
  } catch (cause) {
    throw cause instanceof UsageError ? wrong(cause.message, cause) : cause
  }
}

function wrong(message: string, cause?: unknown): UsageError {
  return new UsageError('ERR_JOB_REQUEST', message, {
    cause,
    remedies: ['`voxmux step --schema` prints the JSON Schema of a job.'],
  })
}

/** Turns the settings of a written job into flags for `resolveConfig`. Missing settings are absent. */
export function flagsOfRequest(request: JobRequestFile): Flags {
  const { input: _input, output: _output, segments: _segments, force: _force, ...settings } = request
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Flags
}

/**
 * Makes a queued job from one that another program wrote.
 *
 * @param configOf resolves the configuration with flags on top
 * @throws UsageError for relative paths, and whatever `configOf` throws
 */
export async function queuedFileOfRequest(
  request: JobRequestFile,
  group: string,
  configOf: (flags: Flags) => Promise<Config>,
): Promise<QueuedFile> {
  const { input, output = defaultOutput(input), segments = [], force = false } = request
  const config = await configOf(flagsOfRequest(request))
  return { input, output, group, settings: settingsOfConfig(config, { segments, force, previewSec: null }) }
}

/** The default output beside the input. */
function defaultOutput(input: string): string {
  if (isAbsolute(input)) return `${dirname(input)}/`
  if (isWebAddress(input)) {
    throw new UsageError(
      'ERR_ORDER_WITHOUT_OUTPUT',
      `The job for ${redactUrl(input)} does not name an output, and a web address has no folder of its own.`,
      {
        remedies: ['Add an "output": a file, or a folder with a slash at its end.'],
      },
    )
  }
  throw new UsageError('ERR_ORDER_RELATIVE', `${input} is not an absolute path, and a worker runs in another folder.`, {
    input,
    remedies: ['Write the absolute path.'],
  })
}

/**
 * Turns a job that another program wrote into a plan request of this process.
 *
 * @param config resolved with the job's own settings on top: see `flagsOfRequest`
 * @param from base folder of relative paths, and the job's group
 */
export function planRequestOfJob(
  { input, output, segments = [], force = false }: JobRequestFile,
  config: Config,
  { cwd, group }: Pick<PlanRequest, 'cwd' | 'group'>,
): PlanRequest {
  return {
    provisionalId: sortableId(),
    input: isWebAddress(input) ? input : resolve(cwd, input),
    output,
    cwd,
    group,
    settings: settingsOfConfig(config, { segments, force, previewSec: null }),
    remote: false,
  }
}
