import { overallExitCode } from '../../core/errors.js'
import { visibleText } from '../../core/visible-text.js'
import { toggle } from '../arguments/option.js'
import { CONFIG_OPTIONS, flagsOf, withOptions } from '../arguments/run-options.js'
import type { CommandContext } from '../command.js'
import { defineCommand } from '../command.js'
import { examine, examineTools } from '../doctor/examine.js'
import type { Finding } from '../doctor/finding.js'
import { installFfmpeg } from '../doctor/install-ffmpeg.js'
import { loadConfig } from '../load-config.js'
import { colorsOf, remedyLines } from '../output/wording.js'

/** `voxmux doctor` */
export const command = defineCommand({
  positionals: '',
  examples: [
    ['', 'check what is installed, reachable and configured'],
    ['--install', 'install ffmpeg with the system’s package manager, if it is missing'],
    ['--profile production', 'check the addresses and credentials of a profile'],
  ],
  build: (parser) =>
    withOptions(parser, {
      install: toggle('Install ffmpeg if no working one is found'),
      json: toggle('Print events as JSON lines on stdout'),
      ...CONFIG_OPTIONS,
    }),
  run: async (args, context) => {
    const findings = args.install
      ? await install(context)
      : await examine(await loadConfig(args, flagsOf(args), context), context.signal)
    for (const found of findings) tell(found, context)
    return overallExitCode(findings.map(({ exitCode }) => exitCode))
  },
})

/** Installs ffmpeg only if it is missing, then examines the result. */
async function install({ env, signal, output }: CommandContext): Promise<readonly Finding[]> {
  const before = await examineTools(undefined)
  if (before.every(({ status }) => status !== 'fault')) return before
  await installFfmpeg({ env, signal, announce: (line) => output.note(`voxmux runs: ${line}`) })
  return examineTools(undefined)
}

function tell({ exitCode: _, ...found }: Finding, { output }: CommandContext): void {
  output.event({ event: 'check', ...found })
  const colors = colorsOf(process.stdout)
  const marks = { ok: colors.green('✔'), note: colors.dim('·'), fault: colors.red('✖') }
  const line = `${marks[found.status]} ${found.check.padEnd(14)} ${visibleText(found.detail)}`
  output.print([line, ...remedyLines(found.remedies)].join('\n'))
}
