import type { Argv, InferredOptionTypes, Options } from 'yargs'
import { bedSchema, qcSchema } from '../../config/preset-schema.js'
import type { Flags } from '../../config/resolve-config.js'
import { outputTypeSchema } from '../../contract/requests.js'
import { UsageError } from '../../core/errors.js'
import { parseDuration } from '../../core/time.js'
import { channelsChoiceSchema, type TrackChoice } from '../../precheck/choices.js'

/** Flags of every command that reads the configuration. */
export const CONFIG_OPTIONS = {
  preset: {
    alias: 'p',
    type: 'string',
    requiresArg: true,
    describe: 'Name or path of a preset (default: transparent)',
    group: 'Processing:',
  },
  config: { type: 'string', requiresArg: true, describe: 'Configuration file (.json or .mjs)', group: 'Service:' },
  profile: {
    choices: ['local', 'sandbox', 'production'],
    requiresArg: true,
    describe: 'Service to use: the embedded one (local) or a configured one',
    group: 'Service:',
  },
} as const satisfies Record<string, Options>

/** Flags that choose what is regenerated. */
export const VOICE_OPTIONS = {
  track: {
    type: 'string',
    requiresArg: true,
    describe: 'Audio track: only, all, default, N from 0, lang:xxx (default: only)',
    group: 'Input:',
  },
  channels: {
    choices: channelsChoiceSchema.options,
    requiresArg: true,
    describe: 'Channels to regenerate (default: auto)',
    group: 'Input:',
  },
  segment: {
    type: 'array',
    string: true,
    requiresArg: true,
    describe: 'Regenerate only START-END, chapter:NAME, edl:FILE or markers:FILE (repeatable)',
    group: 'Input:',
  },
} as const satisfies Record<string, Options>

/** Flags for events and progress. */
export const OUTPUT_OPTIONS = {
  json: { type: 'boolean', describe: 'Print events as JSON lines on stdout', group: 'Output:' },
  progress: {
    choices: ['auto', 'plain', 'none'],
    requiresArg: true,
    describe: 'Progress on stderr: bars, lines or nothing (default: auto)',
    group: 'Output:',
  },
} as const satisfies Record<string, Options>

/** Flags of the daemons, for their log. */
export const LOG_OPTIONS = {
  log: {
    choices: ['auto', 'human', 'json'],
    requiresArg: true,
    describe: 'Log on stderr: sentences or JSON lines (default: auto, which is sentences in a terminal)',
    group: 'Output:',
  },
  ...OUTPUT_OPTIONS,
} as const satisfies Record<string, Options>

/** All flags of `run`. */
export const RUN_OPTIONS = {
  output: {
    alias: 'o',
    type: 'string',
    requiresArg: true,
    describe: 'Output file, folder (a name without an extension), or - for stdout (default: beside the input)',
    group: 'Output:',
  },
  ...CONFIG_OPTIONS,
  ...VOICE_OPTIONS,
  'output-type': {
    choices: outputTypeSchema.options,
    requiresArg: true,
    describe: 'Format of the regenerated audio of an audio file (default: lossless)',
    group: 'Output:',
  },
  format: {
    type: 'string',
    requiresArg: true,
    describe: 'Format of `-o -` (default: --output-type, or wav for stdin, or that of the input)',
    group: 'Output:',
  },
  mix: {
    type: 'number',
    requiresArg: true,
    describe: 'Percent of the regenerated voice in the output (default: 100)',
    group: 'Output:',
  },
  bed: {
    choices: bedSchema.options,
    requiresArg: true,
    describe: 'Music under a voice: keep it, or lower it by 6 dB (default: keep)',
    group: 'Output:',
  },
  'only-noisy': {
    type: 'boolean',
    describe: 'Send only the parts with noise around a voice',
    group: 'Processing:',
  },
  'skip-clean': {
    type: 'boolean',
    describe: 'Send nothing of a file without noise, and copy it',
    group: 'Processing:',
  },
  'keep-original': { type: 'boolean', describe: 'Keep the original track as a second one', group: 'Output:' },
  'add-track': {
    type: 'boolean',
    describe: 'Keep all tracks, and add the regenerated one as "Clear dialogue"',
    group: 'Output:',
  },
  chunk: {
    type: 'string',
    requiresArg: true,
    describe: 'Send long files in parts of this length, such as 10m',
    group: 'Processing:',
  },
  preview: {
    type: 'string',
    requiresArg: true,
    describe: 'Regenerate only the first seconds, such as 10s, as a short clip',
    group: 'Input:',
  },
  report: { type: 'boolean', describe: 'Write an HTML report that compares before and after', group: 'Output:' },
  qc: {
    choices: qcSchema.unwrap().options,
    requiresArg: true,
    describe: 'Measure the output against a delivery standard, and write a certificate',
    group: 'Output:',
  },
  open: { type: 'boolean', describe: 'Write the report of one file, and open it in the browser', group: 'Output:' },
  verify: {
    choices: ['full', 'fast'],
    requiresArg: true,
    describe: 'How to verify the output (default: full)',
    group: 'Processing:',
  },
  strict: { type: 'boolean', describe: 'Refuse files that would lose anything', group: 'Processing:' },
  remote: { type: 'boolean', describe: 'Let the service download an https input', group: 'Service:' },
  concurrency: {
    type: 'number',
    requiresArg: true,
    describe: 'Files at the same time (default: 2)',
    group: 'Processing:',
  },
  ledger: { type: 'string', requiresArg: true, describe: 'Ledger file', group: 'Service:' },
  store: { type: 'string', requiresArg: true, describe: 'Shared job store (postgres://…)', group: 'Service:' },
  'dry-run': { type: 'boolean', describe: 'Show the plan and the price, send nothing', group: 'Processing:' },
  verbose: {
    type: 'boolean',
    describe: 'With --dry-run: show the rewritten structures and the ffmpeg commands',
    group: 'Processing:',
  },
  'no-input': { type: 'boolean', describe: 'Never ask; refuse what needs an answer', group: 'Input:' },
  force: {
    type: 'boolean',
    describe: 'Process finished files again and overwrite their outputs',
    group: 'Processing:',
  },
  ...OUTPUT_OPTIONS,
} as const satisfies Record<string, Options>

const { output, report, qc, verify, strict, concurrency, ledger, store, force } = RUN_OPTIONS

/** Flags of `timeline`: the flags of `run` that apply to a cut, and its own. */
export const TIMELINE_OPTIONS = {
  output: { ...output, describe: 'Folder for all new files, or the new timeline' },
  ...CONFIG_OPTIONS,
  track: VOICE_OPTIONS.track,
  channels: VOICE_OPTIONS.channels,
  'media-root': {
    type: 'array',
    string: true,
    requiresArg: true,
    describe: 'Folder to search for media, with its subfolders (repeatable)',
    group: 'Input:',
  },
  fps: { type: 'string', requiresArg: true, describe: 'Frame rate of an EDL, such as 23.976', group: 'Input:' },
  exclude: {
    type: 'array',
    string: true,
    requiresArg: true,
    describe: 'Clips or files to leave unchanged, with * and ? (repeatable)',
    group: 'Input:',
  },
  trim: {
    type: 'string',
    requiresArg: true,
    describe: 'Extra time to regenerate around each clip, for later trims, such as 2s',
    group: 'Processing:',
  },
  mix: RUN_OPTIONS.mix,
  bed: RUN_OPTIONS.bed,
  'keep-original': RUN_OPTIONS['keep-original'],
  chunk: RUN_OPTIONS.chunk,
  ...{ report, qc, verify, strict, concurrency, ledger, store, 'dry-run': RUN_OPTIONS['dry-run'], force },
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

/** Turns the given flags into settings for `resolveConfig`. @throws {UsageError} `ERR_USAGE` for a bad duration */
export function flagsOf(args: RunArguments): Flags {
  const settings = {
    preset: args.preset,
    profile: args.profile,
    track: args.track === undefined ? undefined : trackChoice(args.track),
    channels: args.channels,
    outputType: args['output-type'],
    mix: args.mix,
    bed: args.bed,
    onlyNoisy: args['only-noisy'],
    skipClean: args['skip-clean'],
    keepOriginal: args['keep-original'],
    addTrack: args['add-track'],
    chunkSec: args.chunk === undefined ? undefined : durationFlag('--chunk', args.chunk),
    report: args.report ?? (args.open || undefined),
    qc: args.qc,
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

/** Turns digits into a number. The schema rejects an invalid choice by name. */
function trackChoice(text: string): TrackChoice {
  return (/^\d+$/.test(text) ? Number(text) : text) as TrackChoice
}
