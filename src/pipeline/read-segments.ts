import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { UsageError } from '../core/errors.js'
import { readEdl } from './read-edl.js'
import { readMarkers } from './read-markers.js'
import { parseSegment, type Segment } from './segments.js'

/** Larger ones are no list of parts. */
const MOST_BYTES = 16 * 1024 ** 2
const READERS = { edl: readEdl, markers: readMarkers } as const

/**
 * Reads segments as typed: those that `parseSegment` takes, and the files that name any number of them, `edl:PATH`
 * (CMX3600) and `markers:PATH` (Audacity labels, or CSV).
 *
 * @param cwd folder against which paths are relative
 * @throws {UsageError} `ERR_SEGMENT_SYNTAX`, `ERR_SEGMENT_FILE`
 */
export async function readSegments(typed: readonly string[], cwd: string): Promise<readonly Segment[]> {
  const read = await Promise.all(
    typed.map(async (text) => {
      const match = /^(edl|markers):(.+)$/s.exec(text)
      if (!match) return [parseSegment(text)]
      return segmentsOfFile(match[1] as keyof typeof READERS, resolve(cwd, match[2] as string))
    }),
  )
  return read.flat()
}

async function segmentsOfFile(kind: keyof typeof READERS, path: string): Promise<readonly Segment[]> {
  try {
    const bytes = await readFile(path)
    if (bytes.length > MOST_BYTES) throw new SyntaxError('it is larger than 16 MB')
    return READERS[kind](bytes.toString('utf8'))
  } catch (cause) {
    const why = cause instanceof SyntaxError ? cause.message : 'there is no such file that can be read'
    throw new UsageError('ERR_SEGMENT_FILE', `Cannot take segments from ${path}: ${why}.`, {
      cause,
      input: path,
      remedies: [
        kind === 'edl'
          ? 'Give a CMX3600 list: its record timecodes name the parts.'
          : 'Give Audacity labels, or lines of start,end in seconds or h:mm:ss.',
      ],
    })
  }
}
