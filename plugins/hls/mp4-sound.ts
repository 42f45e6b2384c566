import { PrecheckError } from '../../src/core/errors.js'
import { unlessMalformed } from '../../src/media/probe/malformed-file.js'
import { bodyOf, childAt, childBoxes } from '../../src/media/probe/movie/box.js'
import { parseBoxes } from '../../src/media/probe/movie/parse-boxes.js'
import { aacConfigOf, sampleEntries } from '../../src/media/write/iso-bmff/read/sample-entry.js'
import { type AdtsFormat, formatOfConfig, muxedAudio, notAacLc } from './audio-frames.js'

/**
 * How the one track of an initialization section is coded.
 *
 * @throws PrecheckError ERR_HLS_MUXED_AUDIO, ERR_HLS_ENCRYPTED, ERR_HLS_CODEC, ERR_HLS_SEGMENT
 */
export function soundOfInit(init: Buffer, name: string): AdtsFormat {
  const movie = unlessMalformed(() => parseBoxes(init, 0, ''), []).find(({ type }) => type === 'moov')
  const [track, ...more] = childBoxes(movie, 'trak').map((trak) => childAt(trak, 'mdia'))
  const kind = bodyOf(childAt(track, 'hdlr')).toString('latin1', 8, 12)
  if (more.length > 0 || kind !== 'soun') throw muxedAudio(`${name} holds`, name)
  const table = childAt(track, 'minf', 'stbl', 'stsd')
  const [entry, ...others] = unlessMalformed(() => sampleEntries(table), [])
  if (entry === undefined || others.length > 0) {
    throw new PrecheckError('ERR_HLS_SEGMENT', `${name} is not a readable initialization section.`, {
      input: name,
    })
  }
  if (entry.format === 'enca') {
    throw new PrecheckError('ERR_HLS_ENCRYPTED', `${name} says that the sound is encrypted.`, {
      input: name,
      remedies: ['Regenerate the package before it is encrypted.'],
    })
  }
  if (entry.format !== 'mp4a') throw notAacLc(name)
  const config = aacConfigOf(entry)
  if (!config) throw notAacLc(name)
  return formatOfConfig(config, name)
}
