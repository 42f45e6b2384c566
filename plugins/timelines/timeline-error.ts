import { UsageError } from '../../src/core/errors.js'

/** A file that cannot be read as a timeline. */
export class TimelineSyntaxError extends SyntaxError {}

/** A pipe or a device. */
export class NoTimelineFile extends TimelineSyntaxError {}

const EXPORT_AGAIN = 'Export it again as OTIO, FCPXML, Final Cut Pro 7 XML or a CMX3600 EDL, or save the project again.'
const SAVE_AS_FILE = 'Save the timeline as a file of its own, and name that file.'

/** The error of a timeline that cannot be read, in a person's words. */
export function unreadableTimeline(path: string, cause: unknown): UsageError {
  const why = cause instanceof TimelineSyntaxError ? cause.message : 'its structure is not that of its format'
  return new UsageError('ERR_TIMELINE_UNREADABLE', `Cannot read the timeline ${path}: ${why}.`, {
    cause,
    input: path,
    remedies: [cause instanceof NoTimelineFile ? SAVE_AS_FILE : EXPORT_AGAIN],
  })
}
