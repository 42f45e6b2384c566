import picocolors from 'picocolors'
import { overallExitCode } from '../../core/errors.js'
import { expandInputs } from '../../pipeline/plan/expand-inputs.js'
import { CONFIG_OPTIONS, flagsOf, VOICE_OPTIONS, withOptions } from '../arguments/run-options.js'
import { defineCommand } from '../command.js'
import { jobSettingsOf } from '../job-settings-of.js'
import { loadConfig } from '../load-config.js'
import { checkFile } from '../show/check-file.js'
import { describeCheck } from '../show/describe-check.js'

/** `voxmux check <input…>` */
export const command = defineCommand({
  positionals: '<input..>',
  examples: [
    ['clip.mov', 'what the service would refuse, and how to fix it'],
    ['film.mkv --track lang:eng --channels center', 'check with other choices'],
    ['*.mxf --json', 'one `file` event per input, with verdicts and media'],
  ],
  build: (parser) =>
    withOptions(
      parser.positional('input', { type: 'string', array: true, demandOption: true, describe: 'Files or folders' }),
      {
        ...CONFIG_OPTIONS,
        ...VOICE_OPTIONS,
        json: { type: 'boolean', describe: 'Print events as JSON lines on stdout' },
      },
    ),
  run: async (args, context) => {
    const { cwd, signal, output } = context
    const config = await loadConfig(args, flagsOf(args), context)
    const settings = await jobSettingsOf(config, args, cwd)
    const colors = picocolors.createColors(process.stdout.isTTY === true && picocolors.isColorSupported)
    const outcomes = []
    for (const input of await expandInputs(args.input, cwd)) {
      const outcome = await checkFile(input, settings, config.limits, signal)
      outcomes.push(outcome)
      output.event({ ...outcome.file })
      output.print(describeCheck(outcome.file, colors))
    }
    const exitCode = overallExitCode(outcomes.map((outcome) => outcome.exitCode))
    output.result({ exitCode, files: outcomes.map(({ file }) => file) })
    return exitCode
  },
})
