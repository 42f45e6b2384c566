import type { Argv, InferredOptionTypes, Options } from 'yargs'
import { bedSchema, qcSchema } from '../../config/preset-schema.js'
import type { Flags } from '../../config/resolve-config.js'
import { outputTypeSchema } from '../../contract/requests.js'
import { UsageError } from '../../core/errors.js'
import { parseDuration } from '../../core/time.js'
import { channelsChoiceSchema, type TrackChoice } from '../../precheck/choices.js'
import { list, number, oneOf, text, toggle } from './option.js'

/** Flags of every command that reads the configuration. */
export const CONFIG_OPTIONS = {
  preset: { ...text('Name or path of a preset (default: transparent)', 'Processing:'), alias: 'p' },
  config: text('Configuration file (.json or .mjs)', 'Service:'),
  profile: oneOf(
    ['local', 'sandbox', 'production'],
    'Service to use: the embedded one (local) or a configured one',
    'Service:',
  ),
} as const satisfies Record<string, Options>

/** Flags that choose what is regenerated. */
export const VOICE_OPTIONS = {
  track: text('Audio track: only, all, default, N from 0, lang:xxx (default: only)', 'Input:'),
  channels: oneOf(channelsChoiceSchema.options, 'Channels to regenerate (default: auto)', 'Input:'),
  segment: list('Regenerate only START-END, chapter:NAME, edl:FILE or markers:FILE (repeatable)', 'Input:'),
} as const satisfies Record<string, Options>

/** Flags for events and progress. */
export const OUTPUT_OPTIONS = {
  json: toggle('Print events as JSON lines on stdout', 'Output:'),
  progress: oneOf(['auto', 'plain', 'none'], 'Progress on stderr: bars, lines or nothing (default: auto)', 'Output:'),
} as const satisfies Record<string, Options>

/** Flags of the daemons, for their log. */
export const LOG_OPTIONS = {
  log: oneOf(
    ['auto', 'human', 'json'],
    'Log on stderr: sentences or JSON lines (default: auto, which is sentences in a terminal)',
    'Output:',
  ),
  ...OUTPUT_OPTIONS,
} as const satisfies Record<string, Options>

/** All flags of `run`. */
export const RUN_OPTIONS = {
  output: {
    ...text(
      'Output file, folder (a name without an extension), or - for stdout (default: beside the input)',
      'Output:',
    ),
    alias: 'o',
  },
  ...CONFIG_OPTIONS,
  ...VOICE_OPTIONS,
  'output-type': oneOf(
    outputTypeSchema.options,
    'Format of the output of an audio file (default: that of the input)',
    'Output:',
  ),
  format: text('Format of `-o -` (default: --output-type, or wav for stdin, or that of the input)', 'Output:'),
  mix: number('Percent of the regenerated voice in the output (default: 100)', 'Output:'),
  bed: oneOf(bedSchema.options, 'Music under a voice: keep it, or lower it by 6 dB (default: keep)', 'Output:'),
  'only-noisy': toggle('Send only the parts with noise around a voice', 'Processing:'),
  'skip-clean': toggle('Send nothing of a file without noise, and copy it', 'Processing:'),
  'keep-original': toggle('Keep the original track as a second one', 'Output:'),
  'add-track': toggle('Keep all tracks, and add the regenerated one as "Clear dialogue"', 'Output:'),
  chunk: text('Send long files in parts of this length, such as 10m', 'Processing:'),
  preview: text('Regenerate only the first seconds, such as 10s, as a short clip', 'Input:'),
  report: toggle('Write an HTML report that compares before and after', 'Output:'),
  qc: oneOf(
    qcSchema.unwrap().options,
    'Measure the output against a delivery standard, and write a certificate',
    'Output:',
  ),
  open: toggle('Write the report of one file, and open it in the browser', 'Output:'),
  verify: oneOf(['full', 'fast'], 'How to verify the output (default: full)', 'Processing:'),
  strict: toggle('Refuse files that would lose anything', 'Processing:'),
  remote: toggle('Let the service download an https input', 'Service:'),
  concurrency: number('Files at the same time (default: 2)', 'Processing:'),
  ledger: text('File of the ledger: the list of jobs and payments', 'Service:'),
  store: text('Shared job store (postgres://…)', 'Service:'),
  'dry-run': toggle('Show the plan and the price, send nothing', 'Processing:'),
  verbose: toggle('With --dry-run: show the rewritten structures and the ffmpeg commands', 'Processing:'),
  'no-input': toggle('Never ask; refuse what needs an answer', 'Input:'),
  force: toggle('Process finished files again and overwrite their outputs', 'Processing:'),
  ...OUTPUT_OPTIONS,
} as const satisfies Record<string, Options>

const { output, report, qc, verify, strict, concurrency, ledger, store, force } = RUN_OPTIONS

/** Flags of `timeline`: the flags of `run` that apply to a cut, and its own. */
export const TIMELINE_OPTIONS = {
  output: { ...output, describe: 'Folder for all new files, or the new timeline' },
  ...CONFIG_OPTIONS,
  track: VOICE_OPTIONS.track,
  channels: VOICE_OPTIONS.channels,
  'media-root': list('Folder to search for media, with its subfolders (repeatable)', 'Input:'),
  fps: text('Frame rate of an EDL, such as 23.976', 'Input:'),
  exclude: list('Clips or files to leave unchanged, with * and ? (repeatable)', 'Input:'),
  trim: text('Extra time to regenerate around each clip, for later trims, such as 2s', 'Processing:'),
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
