/**
 * The three headers of Vorbis in a CodecPrivate, with Xiph lacing: their number less one, the sizes of all but the last, and
 * the packets. Undefined for another structure.
 */
export function xiphPackets(header: Buffer): readonly [Buffer, Buffer, Buffer] | undefined {
  if (header[0] !== 2) return undefined
  let at = 1
  const size = () => {
    let sum = 0
    for (;;) {
      const byte = header[at++] ?? 0
      sum += byte
      if (byte < 255) return sum
    }
  }
  const [first, second] = [size(), size()]
  if (at + first + second > header.length) return undefined
  const [one, two] = [header.subarray(at, at + first), header.subarray(at + first, at + first + second)]
  return [one, two, header.subarray(at + first + second)]
}
