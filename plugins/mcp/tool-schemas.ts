import { z } from 'zod'
import { jobRequestSchema } from '../../src/pipeline/queue/job-request.js'

const job = jobRequestSchema.extend({
  input: z.string().min(1).meta({ description: 'Path of the file, in one of the open folders.' }),
})

/** Longest wait of one call, in seconds. Many clients give up after a minute. */
const MOST_WAIT_SEC = 50

/** The arguments of each tool. */
export const TOOL_SCHEMAS = {
  check: job.pick({ input: true, preset: true, segments: true, track: true, channels: true }),
  plan: job,
  run: job.extend({
    plan: z
      .string()
      .min(1)
      .meta({ description: 'The token that the tool `plan` returned as `plan` for these arguments.' }),
  }),
  status: z.strictObject({
    job: z.string().min(1).optional().meta({ description: 'Id of a job; by default the newest jobs.' }),
    waitSec: z
      .number()
      .min(0)
      .max(MOST_WAIT_SEC)
      .default(0)
      .meta({ description: 'Seconds to wait for the end of that job.' }),
  }),
  receipt: z.strictObject({
    output: z.string().min(1).meta({ description: 'Path of an output, in one of the open folders.' }),
  }),
  presets: z.strictObject({
    name: z.string().min(1).optional().meta({ description: 'Preset to show with its settings; by default a list.' }),
  }),
} as const

export type ToolName = keyof typeof TOOL_SCHEMAS
export type ToolArguments<Name extends ToolName> = z.infer<(typeof TOOL_SCHEMAS)[Name]>

const DESCRIPTIONS: Readonly<Record<ToolName, string>> = {
  check: 'Checks a video or audio file locally: would it be refused, and why. Sends nothing.',
  plan:
    'Plans to regenerate the voice of a file: what is kept, lost, sent and paid. Sends nothing. ' +
    'Show the plan to the person before you call `run` with its token, `plan`.',
  run:
    'Regenerates the voice of a file, and costs what its plan says. Takes the arguments of the tool `plan`, unchanged, ' +
    'and its token as `plan`. Returns a job at once; the same call again returns the same job and pays nothing more.',
  status: 'Shows a job, or the newest jobs. Jobs continue after the client and the server have ended.',
  receipt: 'Shows the receipt of an output, and whether the output is unchanged.',
  presets: 'Lists the presets, or shows one.',
}

/** The list of tools for the client. The JSON Schemas are those of zod. */
export function toolList(): readonly object[] {
  return Object.entries(TOOL_SCHEMAS).map(([name, schema]) => ({
    name,
    description: DESCRIPTIONS[name as ToolName],
    inputSchema: z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }),
    annotations:
      name === 'run'
        ? { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true }
        : { readOnlyHint: true, openWorldHint: false },
    ...(name === 'run' && { execution: { taskSupport: 'optional' } }),
  }))
}
