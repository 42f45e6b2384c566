import { JobFailedError } from '../../../core/errors.js'
import { ADTS_HEAD_BYTES, adtsLength } from '../../probe/adts-length.js'

/** Samples per frame of AAC-LC. */
export const AAC_FRAME_SAMPLES = 1024

/** Splits ADTS into whole frames with headers. @throws {JobFailedError} ERR_ENCODER_OUTPUT if it is not ADTS */
export async function* adtsFrames(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of source) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    let at = 0
    while (bytes.length - at >= ADTS_HEAD_BYTES) {
      const length = adtsLength(bytes, at)
      if (length === 0)
        throw new JobFailedError('ERR_ENCODER_OUTPUT', 'The AAC encoder wrote data that is not an AAC frame.')
      if (bytes.length - at < length) break
      yield bytes.subarray(at, at + length)
      at += length
    }
    rest = bytes.subarray(at)
  }
}
