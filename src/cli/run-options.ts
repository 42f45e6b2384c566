import type { Argv, InferredOptionTypes, Options } from 'yargs'
import type { Flags } from '../config/resolve-config.js'
import { outputTypeSchema } from '../contract/requests.js'
import { UsageError } from '../core/errors.js'
import { parseDuration } from '../core/time.js'
import { channelsChoiceSchema, type TrackChoice } from '../precheck/choices.js'

/** Flags of every command that reads the configuration. */
export const CONFIG_OPTIONS = {
  preset: { alias: 'p', type: 'string', requiresArg: true, describe: 'Preset, by name or path', group: 'What:' },
  config: { type: 'string', requiresArg: true, describe: 'Configuration file (.json or .mjs)', group: 'Where:' },
  profile: {
    choices: ['local', 'sandbox', 'production'],
    requiresArg: true,
    describe: 'Service: the embedded one, or an address that is configured',
    group: 'Where:',
  },
} as const satisfies Record<string, Options>

/** Flags that say what is regenerated. */
export const VOICE_OPTIONS = {
  track: {
    type: 'string',
    requiresArg: true,
    describe: 'Audio track: only, all, default, N from 0, lang:xxx',
    group: 'What:',
  },
  channels: {
    choices: channelsChoiceSchema.options,
    requiresArg: true,
    describe: 'Channels of a track',
    group: 'What:',
  },
  segment: {
    type: 'array',
    string: true,
    requiresArg: true,
    describe: 'Part: START-END, chapter:NAME, edl:FILE, markers:FILE (repeatable)',
    group: 'What:',
  },
} as const satisfies Record<string, Options>

/** How progress is shown to people. */
export const OUTPUT_OPTIONS = {
  json: { type: 'boolean', describe: 'Events for programs on stdout, one JSON a line', group: 'Output:' },
  progress: { choices: ['auto', 'plain', 'none'], requiresArg: true, describe: 'Progress on stderr', group: 'Output:' },
} as const satisfies Record<string, Options>

/** All flags of `run` (DESIGN section 2). */
export const RUN_OPTIONS = {
  output: { alias: 'o', type: 'string', requiresArg: true, describe: 'Output file, or folder', group: 'Output:' },
  ...CONFIG_OPTIONS,
  ...VOICE_OPTIONS,
  'output-type': {
    choices: outputTypeSchema.options,
    requiresArg: true,
    describe: 'Format of the output of an audio file',
    group: 'What:',
  },
  'keep-original': { type: 'boolean', describe: 'Keep the untouched track as a second one', group: 'What:' },
  chunk: {
    type: 'string',
    requiresArg: true,
    describe: 'Send long files in parts of this length (10m)',
    group: 'What:',
  },
  preview: {
    type: 'string',
    requiresArg: true,
    describe: 'Regenerate only so much, to listen first (30s)',
    group: 'What:',
  },
  report: { type: 'boolean', describe: 'Write a page that compares before and after', group: 'Output:' },
  verify: { choices: ['full', 'fast'], requiresArg: true, describe: 'How the output is proven', group: 'How:' },
  strict: { type: 'boolean', describe: 'Refuse what cannot be kept whole', group: 'How:' },
  remote: { type: 'boolean', describe: 'Have the service fetch an https input', group: 'How:' },
  concurrency: { type: 'number', requiresArg: true, describe: 'Files at the same time', group: 'How:' },
  ledger: { type: 'string', requiresArg: true, describe: 'Ledger file', group: 'Where:' },
  store: { type: 'string', requiresArg: true, describe: 'Shared job store (redis://…)', group: 'Where:' },
  'dry-run': { type: 'boolean', describe: 'Show the plan, send nothing', group: 'How:' },
  force: { type: 'boolean', describe: 'Overwrite, and do again what is done', group: 'How:' },
  ...OUTPUT_OPTIONS,
} as const satisfies Record<string, Options>

const { output, report, verify, strict, concurrency, ledger, store, force } = RUN_OPTIONS

/** Flags of `timeline`: those of `run` that make sense for a cut, and its own. */
export const TIMELINE_OPTIONS = {
  output: { ...output, describe: 'Folder of all that is new, or the new timeline' },
  ...CONFIG_OPTIONS,
  track: VOICE_OPTIONS.track,
  channels: VOICE_OPTIONS.channels,
  'media-root': {
    type: 'array',
    string: true,
    requiresArg: true,
    describe: 'Folder to search for media, with all below (repeatable)',
    group: 'Where:',
  },
  fps: { type: 'string', requiresArg: true, describe: 'Frame rate of an EDL (23.976)', group: 'What:' },
  exclude: {
    type: 'array',
    string: true,
    requiresArg: true,
    describe: 'Clips or files to leave as they are, with * and ? (repeatable)',
    group: 'What:',
  },
  trim: {
    type: 'string',
    requiresArg: true,
    describe: 'Regenerate so much more around each clip, to trim in (2s)',
    group: 'What:',
  },
  'keep-original': RUN_OPTIONS['keep-original'],
  chunk: RUN_OPTIONS.chunk,
  ...{ report, verify, strict, concurrency, ledger, store, 'dry-run': RUN_OPTIONS['dry-run'], force },
  ...OUTPUT_OPTIONS,
} as const satisfies Record<string, Options>

/** Arguments of `timeline`. */
export type TimelineArguments = Partial<InferredOptionTypes<typeof TIMELINE_OPTIONS>>

/** Arguments of any command that takes some of the flags of `run`. */
export type RunArguments = Partial<InferredOptionTypes<typeof RUN_OPTIONS>>

/** Adds options to a parser, keeping their types. */
export function withOptions<Known, O extends Record<string, Options>>(
  parser: Argv<Known>,
  options: O,
): Argv<Known & InferredOptionTypes<O>> {
  return parser.options(options) as Argv<Known & InferredOptionTypes<O>>
}

/**
 * The settings that flags make, for `resolveConfig`; a flag that was not given is absent.
 *
 * @throws UsageError `ERR_USAGE` for a duration that cannot be read
 */
export function flagsOf(args: RunArguments): Flags {
  const settings = {
    preset: args.preset,
    profile: args.profile,
    track: args.track === undefined ? undefined : trackChoice(args.track),
    channels: args.channels,
    outputType: args['output-type'],
    keepOriginal: args['keep-original'],
    chunkSec: args.chunk === undefined ? undefined : durationFlag('--chunk', args.chunk),
    report: args.report,
    verify: args.verify,
    strict: args.strict,
    concurrency: args.concurrency,
    ledger: args.ledger,
    store: args.store,
  }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Flags
}

/** Reads a flag that holds a duration: `90`, `1:30`, `10m`, `1h30m`. */
export function durationFlag(flag: string, text: string): number {
  const sec = parseDuration(text)
  if (sec !== undefined) return sec
  throw new UsageError('ERR_USAGE', `${flag} takes a duration such as 90, 1:30 or 10m, not "${text}".`)
}

/** A number that was typed is a number; what is no choice at all is left for the schema to refuse by name. */
function trackChoice(text: string): TrackChoice {
  return (/^\d+$/.test(text) ? Number(text) : text) as TrackChoice
}
