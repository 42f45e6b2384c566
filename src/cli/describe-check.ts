import { basename } from 'node:path'
import type { Colors } from 'picocolors/types.js'
import { audioStreams, type MediaInfo } from '../media/index.js'
import { describeBytes, describeDuration, describeTracks, subjectTrack, type Verdict } from '../precheck/index.js'
import type { CheckedFile } from './check-file.js'

/** What the pre-check says of a file, for people: what it is, and what would be refused, sent whole and by voxmux. */
export function describeCheck({ input, media, verdicts, error }: CheckedFile, colors: Colors): string {
  const heading = `${colors.bold(basename(input))}${media ? `  ${describeMedia(media)}` : ''}`
  const isJudged = verdicts.asIs.length > 0 || verdicts.asSent.length > 0 || error === null
  if (!isJudged)
    return [heading, `  ${colors.red('✖')} ${error?.message ?? ''}`, ...remedyLines(error?.remedies ?? [])].join('\n')
  return [
    heading,
    ...verdictLines('as it is', verdicts.asIs, colors),
    ...verdictLines('as sent', verdicts.asSent, colors),
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

function verdictLines(label: string, verdicts: readonly Verdict[], colors: Colors): readonly string[] {
  const name = label.padEnd(9)
  if (verdicts.length === 0) return [`  ${name} ${colors.green('✔')} taken`]
  return verdicts.map(({ errorCode, name: codeName, message, severity }, index) => {
    const mark = severity === 'refuse' ? colors.red('✖') : colors.yellow('!')
    return `  ${index === 0 ? name : ' '.repeat(9)} ${mark} ${errorCode} ${codeName}: ${message}`
  })
}

function remedyLines(remedies: readonly string[]): readonly string[] {
  return remedies.map((remedy) => `    → ${remedy}`)
}
