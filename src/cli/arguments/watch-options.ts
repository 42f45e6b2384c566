import type { InferredOptionTypes, Options } from 'yargs'
import type { FolderFlags } from '../../../plugins/watch-folder/index.js'
import { WATCH_DEFAULTS } from '../../config/watch-schema.js'
import { UsageError } from '../../core/errors.js'
import { parseDuration } from '../../core/time.js'
import { text, toggle } from './option.js'
import { CONFIG_OPTIONS, LOG_OPTIONS, RUN_OPTIONS, VOICE_OPTIONS } from './run-options.js'

const { mix, bed, report, verify, strict, ledger, store } = RUN_OPTIONS

/** All flags of `watch`. */
export const WATCH_OPTIONS = {
  out: text('Folder for finished files (default: out in the watched folder)', 'Output:'),
  failed: text('Folder for failure reports (default: failed in the watched folder)', 'Output:'),
  'as-mounted': toggle('Accept that a watched folder has moved to another disk or share for good', 'Input:'),
  settle: text(
    `Seconds a file must stay unchanged before it is processed (default: ${WATCH_DEFAULTS.settleSec})`,
    'Input:',
  ),
  patience: text(`Seconds to wait for an unreadable file (default: ${WATCH_DEFAULTS.patienceSec})`, 'Input:'),
  scan: text(`Seconds between scans of the folder (default: ${WATCH_DEFAULTS.scanSec})`, 'Input:'),
  poll: toggle('Find files by scans alone, for network shares', 'Input:'),
  once: toggle('Process the files that are there, then exit', 'Processing:'),
  'ingest-only': toggle('Queue the files and leave them to workers', 'Processing:'),
  port: text('Port of the dashboard and metrics; 0 picks a free one', 'Service:'),
  ...CONFIG_OPTIONS,
  track: VOICE_OPTIONS.track,
  channels: VOICE_OPTIONS.channels,
  ...{ mix, bed },
  'only-noisy': RUN_OPTIONS['only-noisy'],
  'skip-clean': RUN_OPTIONS['skip-clean'],
  'keep-original': RUN_OPTIONS['keep-original'],
  'add-track': RUN_OPTIONS['add-track'],
  ...{ report, verify, strict },
  concurrency: { ...RUN_OPTIONS.concurrency, describe: 'Files at the same time (default: 16)' },
  ...{ ledger, store },
  ...LOG_OPTIONS,
} as const satisfies Record<string, Options>

export type WatchArguments = Partial<InferredOptionTypes<typeof WATCH_OPTIONS>> & {
  readonly folder?: string[] | undefined
}

/** The folder settings that the flags make. @throws UsageError `ERR_USAGE` for an invalid time */
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
  throw new UsageError(
    'ERR_USAGE',
    `${flag} takes a time from ${leastSec} s to a day, such as 30 or 5m, not "${given}".`,
  )
}
