import { basename } from 'node:path'
import type { Colors } from 'picocolors/types.js'
import type { Recipe } from '../../config/preset-schema.js'
import { overallExitCode } from '../../core/errors.js'
import { visibleText } from '../../core/visible-text.js'
import { audioStreams, type MediaInfo } from '../../media/index.js'
import { type CheckedFile, checkFile } from '../../pipeline/job/check-file.js'
import { expandInputs } from '../../pipeline/plan/expand-inputs.js'
import { leastGapSec } from '../../pipeline/plan/ranges-to-send.js'
import { describeBytes, describeDuration, describeTracks, subjectTrack, type Verdict } from '../../precheck/index.js'
import { toggle } from '../arguments/option.js'
import { CONFIG_OPTIONS, flagsOf, VOICE_OPTIONS, withOptions } from '../arguments/run-options.js'
import { defineCommand } from '../command.js'
import { jobSettingsOf } from '../job-settings-of.js'
import { loadConfig } from '../load-config.js'
import { colorsOf, remedyLines } from '../output/wording.js'
import { bedLine } from '../show/bed-line.js'
import { voiceLine } from '../show/voice-line.js'

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
        json: toggle('Print events as JSON lines on stdout'),
      },
    ),
  run: async (args, context) => {
    const { cwd, signal, output } = context
    const config = await loadConfig(args, flagsOf(args), context)
    const settings = await jobSettingsOf(config, args, cwd)
    const colors = colorsOf(process.stdout)
    const service = { limits: config.limits, isEmbedded: config.service.kind === 'embedded' }
    const outcomes = []
    for (const input of await expandInputs(args.input, cwd)) {
      const outcome = await checkFile(input, settings, service, signal)
      outcomes.push(outcome)
      output.event({ ...outcome.file })
      output.print(describeCheck(outcome.file, settings.recipe, service.isEmbedded, colors))
    }
    const exitCode = overallExitCode(outcomes.map((outcome) => outcome.exitCode))
    output.result({ exitCode, files: outcomes.map(({ file }) => file) })
    return exitCode
  },
})

/** Describes a checked file: its media, and what the service would refuse of the file and of what is sent. */
function describeCheck(
  { input, media, verdicts, map, error }: CheckedFile,
  recipe: Recipe,
  isEmbedded: boolean,
  colors: Colors,
): string {
  const heading = `${colors.bold(visibleText(basename(input)))}${media ? `  ${visibleText(describeMedia(media))}` : ''}`
  const bed = map && bedLine(map.music.filter((value) => value >= 0.5).length, recipe.bed, isEmbedded)
  // A refusal is the error itself, in the words of its verdict.
  const isRefused = verdicts.asSent.some(({ severity }) => severity === 'refuse')
  const isReady = error === null && verdicts.asSent.length === 0
  return [
    heading,
    ...(isReady ? [readyLine(verdicts.asIs.length === 0, colors)] : []),
    ...(error === null || isRefused ? [] : errorLines(error, colors)),
    ...verdictLines('voice', verdicts.asSent, colors),
    ...verdictLines('unchanged', verdicts.asIs, colors),
    ...(map === null
      ? []
      : [`  ${'noise'.padEnd(9)} ${voiceLine(map, leastGapSec(recipe), media?.durationSec ?? null)}`]),
    ...(bed === null ? [] : [`  ${'bed'.padEnd(9)} ${bed}`]),
    ...remedyLines([...new Set(verdicts.asSent.flatMap(({ remedies }) => remedies))]),
  ].join('\n')
}

function describeMedia(media: MediaInfo): string {
  const tracks = audioStreams(media).map(subjectTrack)
  const parts = [
    media.container,
    media.durationSec === null ? 'length unknown' : describeDuration(media.durationSec),
    describeBytes(media.sizeBytes),
    tracks.length === 0 ? 'no audio' : `audio: ${describeTracks(tracks)}`,
  ]
  return parts.join(', ')
}

function readyLine(isUnchangedAccepted: boolean, colors: Colors): string {
  const unchanged = isUnchangedAccepted ? ' (the service would also accept it unchanged)' : ''
  return `  ${colors.green('✔')} Ready: voxmux can process this file${unchanged}.`
}

function errorLines({ message, remedies }: NonNullable<CheckedFile['error']>, colors: Colors): readonly string[] {
  return [`  ${colors.red('✖')} ${visibleText(message)}`, ...remedyLines(remedies)]
}

/** The label says what is sent: the voice, as voxmux does, or the whole file unchanged. */
function verdictLines(label: string, verdicts: readonly Verdict[], colors: Colors): readonly string[] {
  const name = label.padEnd(9)
  return verdicts.map(({ errorCode, name: codeName, message, severity }, index) => {
    const mark = severity === 'refuse' ? colors.red('✖') : colors.yellow('!')
    return `  ${index === 0 ? name : ' '.repeat(9)} ${mark} ${errorCode} ${codeName}: ${visibleText(message)}`
  })
}
