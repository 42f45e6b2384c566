import type { PcmStream } from '../../pcm/pcm.js'

/** Integers of 32 bits with a lowest byte of zero, as ffmpeg cuts those of 24 bits. @param stream of the type `s32` */
export function withHighBytesOnly(stream: PcmStream): PcmStream {
  return {
    ...stream,
    async *chunks() {
      for await (const chunk of stream.chunks()) {
        const copy = Buffer.from(chunk)
        for (let at = 0; at < copy.length; at += 4) copy[at] = 0
        yield copy
      }
    },
  }
}
