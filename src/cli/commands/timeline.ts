import { resolve } from 'node:path'
import { UsageError } from '../../core/errors.js'
import { formatTime } from '../../core/time.js'
import { exitCodeOf } from '../../pipeline/job/run-jobs.js'
import { paidSecOf } from '../../pipeline/output/receipt.js'
import {
  durationFlag,
  flagsOf,
  TIMELINE_OPTIONS,
  type TimelineArguments,
  withOptions,
} from '../arguments/run-options.js'
import { type CommandContext, defineCommand } from '../command.js'
import { commandRuntime } from '../command-runtime.js'
import { jobSettingsOf } from '../job-settings-of.js'
import { loadConfig } from '../load-config.js'
import { createReporter } from '../output/reporter.js'
import { requireOutputFolder } from '../require-output-folder.js'
import { showFiles, timelineEvent, timelineText } from '../show/show-timeline.js'

/** `voxmux timeline <cut>` */
export const command = defineCommand({
  positionals: '<cut>',
  examples: [
    ['cut.fcpxml', 'regenerate what the cut plays; cut.regen.fcpxml uses the new files'],
    ['cut.otio --dry-run', 'show the seconds used of the seconds shot, and the price'],
    ['reel3.edl --fps 23.976 --media-root /mnt/rushes', 'find the reels of an EDL in a folder'],
    ['cut.xml --exclude "*music*" -o finished/', 'leave the music as it is, and save all outputs in one folder'],
  ],
  build: (parser) =>
    withOptions(
      parser.positional('cut', { type: 'string', demandOption: true, describe: 'The timeline' }),
      TIMELINE_OPTIONS,
    ),
  run: async (args, context) => {
    const { output, signal } = context
    const config = await loadConfig(args, flagsOf(args), context)
    if (args.output !== undefined) await requireOutputFolder(args.output, context.cwd)
    const settings = await jobSettingsOf(config, args, context.cwd)
    const { planTimeline, regenerateTimeline, requireTimelineTarget } = await import(
      '../../../plugins/timelines/index.js'
    )
    const isFree = config.service.kind === 'embedded'
    const plan = await planTimeline({ ...(await requestOf(args, context)), settings }, config.limits, { signal })
    try {
      output.event(timelineEvent(plan))
      if (args['dry-run']) {
        output.print(timelineText(plan, isFree))
        await requireTimelineTarget(plan)
        return await showFiles(plan, output, signal)
      }
      const reporter = createReporter(output, args.progress)
      reporter.note(timelineText(plan, isFree))
      await using runtime = await commandRuntime(config, reporter, { signal })
      const { concurrency } = config
      const onEvent = reporter.report
      const { event, files } = await regenerateTimeline(plan, runtime.context, { signal, concurrency, onEvent })
      reporter.stop()
      const exitCode = exitCodeOf(files)
      const paidSec = files.reduce((sum, { receipt }) => sum + (receipt ? paidSecOf(receipt) : 0), 0)
      if (exitCode === 0) output.note(`${formatTime(paidSec)} sent of ${formatTime(plan.shotSec)} shot`)
      output.result({ exitCode, files: [...files.map((file) => file.event), event], main: event })
      return exitCode
    } finally {
      await plan.bundle?.release()
    }
  },
})

async function requestOf(args: TimelineArguments & { readonly cut: string }, { cwd }: CommandContext) {
  const { frameRate } = await import('../../../plugins/timelines/index.js')
  const rate = args.fps === undefined ? null : frameRate(args.fps)
  if (rate === undefined)
    throw new UsageError('ERR_USAGE', `--fps takes a frame rate such as 25 or 23.976, not "${args.fps}".`)
  return {
    input: resolve(cwd, args.cut),
    output: args.output,
    cwd,
    mediaRoots: (args['media-root'] ?? []).map((root) => resolve(cwd, root)),
    frameRate: rate,
    exclude: args.exclude ?? [],
    trimSec: args.trim === undefined ? 0 : durationFlag('--trim', args.trim),
  }
}
