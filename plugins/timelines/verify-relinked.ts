import { stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { VerificationError } from '../../src/core/errors.js'
import { readTimeline, type TimelineFile } from './read-timeline.js'
import { type Rational, rational } from './time/rational.js'
import type { ClipUse, RelinkedMedia, Timeline, TimelineSource } from './timeline.js'
import type { TimelinePlan } from './timeline-plan.js'
import type { NewTimeline } from './write-timeline.js'

/**
 * Reads a new timeline back before it gets its name. It must play the same parts in the same order. Every new file
 * that it names must exist, because players such as melt exit with 0 for a missing file.
 *
 * @throws {VerificationError} `ERR_TIMELINE_CHANGED`
 */
export async function verifyRelinked(
  { file, request }: TimelinePlan,
  { text, output }: NewTimeline,
  media: ReadonlyMap<string, RelinkedMedia>,
): Promise<void> {
  for (const { path } of media.values()) {
    const isThere = await stat(path).then(
      (found) => found.size > 0,
      () => false,
    )
    if (!isThere) throw changed(output, `${path} is not there`)
  }
  // The same rate for both: of a list that does not say its own, frames are compared.
  const rate = request.frameRate ?? rational(25)
  const before = readTimeline(file, rate)
  const again = readAgain({ ...file, text }, rate, output)
  if (JSON.stringify(rangesOf(before)) !== JSON.stringify(rangesOf(again))) {
    throw changed(output, 'it plays other parts than the old one')
  }
  const unnamed = [...media.values()].find((made) => !again.sources.some((source) => isNamed(source, made, output)))
  if (unnamed) throw changed(output, `it does not play ${unnamed.path}`)
}

function readAgain(file: TimelineFile, rate: Rational, output: string): Timeline {
  try {
    return readTimeline(file, rate)
  } catch (cause) {
    throw changed(output, 'it cannot be read back', cause)
  }
}

function isNamed({ name, paths }: TimelineSource, { path, packedName }: RelinkedMedia, output: string): boolean {
  if (packedName !== undefined) return paths.includes(packedName)
  const isSameName = [name, ...paths].some((written) => basename(written) === basename(path))
  return isSameName || paths.some((written) => resolve(dirname(output), written) === path)
}

/** Exact ranges in order, as text: BigInt has no JSON. */
function rangesOf({ uses }: Timeline): readonly string[] {
  return uses.map(({ range: { start, end } }: ClipUse) =>
    [start.numerator, start.denominator, end.numerator, end.denominator].join('/'),
  )
}

function changed(output: string, why: string, cause?: unknown): VerificationError {
  return new VerificationError('ERR_TIMELINE_CHANGED', `The new timeline ${output} is not published: ${why}.`, {
    cause,
    input: output,
    remedies: ['This is a defect of voxmux: please report it with the timeline. The new media are complete.'],
  })
}
