import { type FileHandle, open } from 'node:fs/promises'
import { readAt } from '../../../../core/read-at.js'
import type { StreamInfo } from '../../../media-info.js'
import { unlessMalformed } from '../../../probe/malformed-file.js'
import { type HeaderPart, parseHeaders, partsOf } from '../../structure/avi-headers.js'
import { chunkFile } from '../../structure/chunks.js'

/** In the header of a stream: from its scale to its length, and the size of its samples. */
const CLOCK = { scale: 20, length: 32, end: 36, sampleSize: 44 }
/** Headers lie at the start of the file, with room for the index of each stream. */
const MOST_HEADER_BYTES = 4 * 1024 * 1024
/** Sound of which ffmpeg copies each chunk as one packet. It divides the chunks of other codecs into frames. */
const WHOLE_CHUNKS = /^(pcm_|adpcm_|wma|vorbis$)/
/** `WAVE_FORMAT_RAW_AAC1`: a chunk is a packet. Those with other tags hold ADTS or LATM, in frames of their own. */
const RAW_AAC = '[255][0][0][0]'

/** The facts of a plan that the clocks need. */
interface AviOutput {
  readonly media: { readonly path: string; readonly container: string }
  readonly container: string
  readonly streams: readonly { readonly fate: string; readonly input: StreamInfo }[]
}

/** True if a track of an AVI has a clock that its chunks do not tell, and that {@link keepAviClocks} keeps. */
function hasOwnClock({ kind, codec, codecTag }: StreamInfo): boolean {
  return kind === 'audio' && (WHOLE_CHUNKS.test(codec ?? '') || (codec === 'aac' && codecTag === RAW_AAC))
}

/**
 * Gives the copied sound of an AVI the clock of its original. ffmpeg states another rate for AAC, ADPCM
 * and Vorbis of other encoders.
 */
export async function keepAviClocks({ media, container, streams }: AviOutput, partPath: string): Promise<void> {
  if (container !== 'avi' || media.container !== 'avi') return
  const written = streams.filter(({ fate }) => fate !== 'dropped')
  if (!written.some(({ fate, input }) => fate === 'copied' && hasOwnClock(input))) return
  await using source = await open(media.path, 'r')
  await using target = await open(partPath, 'r+')
  const [old, made] = [await streamHeaders(source), await streamHeaders(target)]
  for (const [place, { fate, input }] of written.entries()) {
    const [from, to] = [old[input.index], made[place]]
    if (fate !== 'copied' || !hasOwnClock(input) || !from || !to) continue
    await target.write(from.body, CLOCK.scale, CLOCK.end - CLOCK.scale, to.bodyStart + CLOCK.scale)
    await target.write(from.body, CLOCK.sampleSize, 4, to.bodyStart + CLOCK.sampleSize)
  }
}

/** The bodies of `strh` of an AVI, in the order of its streams; none of one that does not follow the rules. */
async function streamHeaders(file: FileHandle): Promise<readonly HeaderPart[]> {
  const { size } = await file.stat()
  const hdrl = (await chunkFile(file, size))?.chunks.find(({ list }) => list === 'hdrl')
  if (!hdrl || hdrl.end - hdrl.start > MOST_HEADER_BYTES) return []
  const bytes = await readAt(file, hdrl.start, hdrl.end - hdrl.start)
  const lists = unlessMalformed(() => partsOf(parseHeaders(bytes, hdrl.start), 'strl'), [])
  return lists.flatMap((list) => partsOf(list, 'strh')).filter(({ body }) => body.length > CLOCK.sampleSize)
}
