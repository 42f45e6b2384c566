import type { InferredOptionTypes, Options } from 'yargs'
import { UsageError } from '../core/errors.js'
import { parseDuration } from '../core/time.js'
import { CONFIG_OPTIONS, OUTPUT_OPTIONS, RUN_OPTIONS, VOICE_OPTIONS } from './run-options.js'
import type { FolderFlags } from './watched-folders.js'

const text = (describe: string, group: string) => ({ type: 'string', requiresArg: true, describe, group }) as const

/** All flags of `watch` (DESIGN section 2). */
export const WATCH_OPTIONS = {
  out: text('Folder of finished files (default: out in the folder)', 'Where:'),
  failed: text('Folder of failure reports (default: failed in the folder)', 'Where:'),
  'as-mounted': {
    type: 'boolean',
    describe: 'Take the folders where they are mounted now: one has left its share for good',
    group: 'Where:',
  },
  settle: text('How long a file must be unchanged to be taken (default 10)', 'When:'),
  patience: text('How long an unreadable file is waited for (default 60)', 'When:'),
  scan: text('How often the folder is searched (default 10)', 'When:'),
  poll: { type: 'boolean', describe: 'Search only, no events: for network shares', group: 'When:' },
  once: { type: 'boolean', describe: 'Work off what is there, then end', group: 'When:' },
  'ingest-only': { type: 'boolean', describe: 'Only queue the files, for workers elsewhere', group: 'How:' },
  port: { type: 'string', requiresArg: true, describe: 'Dashboard and metrics; 0 takes any port', group: 'Output:' },
  ...CONFIG_OPTIONS,
  track: VOICE_OPTIONS.track,
  channels: VOICE_OPTIONS.channels,
  'keep-original': RUN_OPTIONS['keep-original'],
  report: RUN_OPTIONS.report,
  verify: RUN_OPTIONS.verify,
  strict: RUN_OPTIONS.strict,
  concurrency: RUN_OPTIONS.concurrency,
  ledger: RUN_OPTIONS.ledger,
  store: RUN_OPTIONS.store,
  ...OUTPUT_OPTIONS,
} as const satisfies Record<string, Options>

export type WatchArguments = Partial<InferredOptionTypes<typeof WATCH_OPTIONS>> & {
  readonly folder?: string[] | undefined
}

/** What the flags say of the folders. @throws UsageError `ERR_USAGE` for a time that cannot be read */
export function folderFlagsOf(args: WatchArguments): FolderFlags {
  return {
    folders: args.folder ?? [],
    out: args.out,
    failed: args.failed,
    settleSec: seconds('--settle', args.settle, 0),
    patienceSec: seconds('--patience', args.patience, 0),
    scanSec: seconds('--scan', args.scan, 0.1),
    poll: args.poll,
  }
}

function seconds(flag: string, given: string | undefined, leastSec: number): number | undefined {
  if (given === undefined) return undefined
  const sec = parseDuration(given)
  if (sec !== undefined && sec >= leastSec && sec <= 86_400) return sec
  throw new UsageError('ERR_USAGE', `${flag} takes seconds, from ${leastSec} to a day, not "${given}".`)
}
