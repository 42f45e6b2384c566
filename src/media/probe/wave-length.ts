import type { FileHandle } from 'node:fs/promises'

/**
 * Number of samples of a FLAC or WAV/RF64 file, from its header.
 *
 * @returns null for other files and if the header does not contain it
 */
export async function waveSampleCount(file: FileHandle): Promise<number | null> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(4096), 0, 4096, 0)
  const head = buffer.subarray(0, bytesRead)
  const magic = head.toString('latin1', 0, 4)
  if (magic === 'fLaC') return flacSampleCount(head)
  return magic === 'RIFF' || magic === 'RF64' ? waveDataFrames(head) : null
}

/** STREAMINFO (RFC 9639, section 8.2): the 36 bits before the MD5. */
function flacSampleCount(head: Buffer): number | null {
  if (head.length < 26) return null
  return (head.readUInt8(21) & 0x0f) * 2 ** 32 + head.readUInt32BE(22) || null
}

function waveDataFrames(head: Buffer): number | null {
  let blockAlign = 0
  let longData: bigint | undefined
  for (let at = 12; at + 8 <= head.length; ) {
    const id = head.toString('latin1', at, at + 4)
    const size = head.readUInt32LE(at + 4)
    if (id === 'ds64' && at + 24 <= head.length) longData = head.readBigUInt64LE(at + 16)
    if (id === 'fmt ' && at + 22 <= head.length) blockAlign = head.readUInt16LE(at + 20)
    if (id === 'data') {
      const bytes = size === 0xffff_ffff && longData !== undefined ? Number(longData) : size
      return blockAlign > 0 ? Math.floor(bytes / blockAlign) : null
    }
    at += 8 + size + (size & 1)
  }
  return null
}
