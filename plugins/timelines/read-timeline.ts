import { stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { UsageError } from '../../src/core/errors.js'
import { unreadableFile } from '../../src/core/unreadable-file.js'
import { readAaf } from './aaf/read-aaf.js'
import { OTIO_TEXT, timelineBytes } from './packing.js'
import { readAle } from './readers/ale.js'
import { readEdlTimeline } from './readers/edl.js'
import { readFcp7 } from './readers/fcp7.js'
import { readFcpxml } from './readers/fcpxml.js'
import { readMlt } from './readers/mlt.js'
import { readOtio } from './readers/otio.js'
import { readPremiere } from './readers/prproj.js'
import type { Rational } from './time/rational.js'
import type { Timeline } from './timeline.js'
import { unreadableTimeline } from './timeline-error.js'
import { decodeText, type TextEncoding } from './timeline-text.js'

/** The readers, by extension. `frameRate` matters only to lists that do not say their own. */
const READERS: Readonly<Record<string, (text: string, frameRate: Rational) => Timeline>> = {
  '.otio': readOtio,
  '.otioz': readOtio,
  '.otiod': readOtio,
  '.fcpxml': readFcpxml,
  '.fcpxmld': readFcpxml,
  '.edl': readEdlTimeline,
  '.aaf': readAaf,
  '.ale': readAle,
  '.prproj': readPremiere,
  '.xml': readFcp7,
  '.mlt': readMlt,
  '.kdenlive': readMlt,
}

/** A timeline's file, read but not yet understood. */
export interface TimelineFile {
  /** Absolute path as it was given: of a bundle, the folder. */
  readonly path: string
  /** Absolute path of the text. */
  readonly textPath: string
  readonly text: string
  /** Encoding of the file's text: the new timeline is written in the same one. */
  readonly encoding: TextEncoding
  readonly extension: string
  /** True if timecodes count frames of a rate that only the media tell. */
  readonly needsFrameRate: boolean
}

/**
 * Loads a timeline's text.
 *
 * @param path absolute
 * @throws {UsageError} `ERR_INPUT_MISSING`, `ERR_TIMELINE_FORMAT`, `ERR_TIMELINE_UNREADABLE`
 */
export async function loadTimeline(path: string): Promise<TimelineFile> {
  const extension = extname(path).toLowerCase()
  if (!(extension in READERS)) {
    throw new UsageError('ERR_TIMELINE_FORMAT', `${path} is not a timeline that voxmux can read.`, {
      input: path,
      remedies: [`It reads ${Object.keys(READERS).join(', ')}.`],
    })
  }
  const found = await stat(path).catch((cause: unknown) => {
    throw unreadableFile('ERR_INPUT_MISSING', path, cause)
  })
  const textPath = found.isDirectory() ? join(path, extension === '.otiod' ? OTIO_TEXT : 'Info.fcpxml') : path
  const bytes = await timelineBytes(textPath, extension).catch((cause: unknown) => {
    throw unreadableTimeline(path, cause)
  })
  return {
    path,
    textPath,
    // An AAF is not text: it gets one character for each byte.
    ...(extension === '.aaf' ? { encoding: 'latin1', text: bytes.toString('latin1') } : decodeText(bytes)),
    extension,
    needsFrameRate: extension === '.edl',
  }
}

/** Understands a timeline. @param frameRate of an edit decision list @throws {UsageError} `ERR_TIMELINE_UNREADABLE` */
export function readTimeline({ path, text, extension }: TimelineFile, frameRate: Rational): Timeline {
  const read = READERS[extension]
  try {
    if (!read) throw new RangeError(`no reader of ${extension}`)
    return read(text, frameRate)
  } catch (cause) {
    throw unreadableTimeline(path, cause)
  }
}
