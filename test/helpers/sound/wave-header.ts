/** Bytes of a {@link waveHeader}. */
export const WAVE_HEADER_BYTES = 44

/** The header of a WAV of 16-bit samples, of which so many bytes follow. */
export function waveHeader(channels: number, sampleRate: number, dataBytes: number): Buffer {
  const header = Buffer.alloc(WAVE_HEADER_BYTES)
  const frameBytes = 2 * channels
  header.write('RIFF', 0)
  header.writeUInt32LE(WAVE_HEADER_BYTES - 8 + dataBytes, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(channels, 22)
  header.writeUInt32LE(sampleRate, 24)
  header.writeUInt32LE(sampleRate * frameBytes, 28)
  header.writeUInt16LE(frameBytes, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(dataBytes, 40)
  return header
}
