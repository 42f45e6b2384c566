/** A mono WAV of half a second, 8 kHz, 16 bits: noise that is another for every number. */
export function tinyWave(number: number): Buffer {
  const samples = 4000
  const wave = Buffer.alloc(44 + 2 * samples)
  wave.write('RIFF', 0)
  wave.writeUInt32LE(wave.length - 8, 4)
  wave.write('WAVEfmt ', 8)
  wave.writeUInt32LE(16, 16)
  wave.writeUInt16LE(1, 20)
  wave.writeUInt16LE(1, 22)
  wave.writeUInt32LE(8000, 24)
  wave.writeUInt32LE(16_000, 28)
  wave.writeUInt16LE(2, 32)
  wave.writeUInt16LE(16, 34)
  wave.write('data', 36)
  wave.writeUInt32LE(2 * samples, 40)
  let state = number + 1
  for (let at = 44; at < wave.length; at += 2) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    wave.writeInt16LE(state >> 18, at)
  }
  return wave
}
