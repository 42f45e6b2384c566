import { UsageError } from '../../src/core/errors.js'

/** A file that cannot be read as a timeline. */
export class TimelineSyntaxError extends SyntaxError {}

/** The error of a timeline that cannot be read, in a person's words. */
export function unreadableTimeline(path: string, cause: unknown): UsageError {
  const why = cause instanceof TimelineSyntaxError ? cause.message : 'its structure is not that of its format'
  return new UsageError('ERR_TIMELINE_UNREADABLE', `Cannot read the timeline ${path}: ${why}.`, {
    cause,
    input: path,
    remedies: ['Export it again as OTIO, FCPXML, Final Cut Pro 7 XML or a CMX3600 EDL, or save the project again.'],
  })
}
