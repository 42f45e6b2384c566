import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const SPEECH = fileURLToPath(new URL('../../../fixtures/speech.wav', import.meta.url))
const DATA_BYTES = 96_000

/** A WAV with the first second of the speech, and a sample of its own for every index. */
export function secondOfSpeech(index = 0): Buffer {
  const bytes = readFileSync(SPEECH).subarray(0, 44 + DATA_BYTES)
  bytes.writeUInt32LE(36 + DATA_BYTES, 4)
  bytes.writeUInt32LE(DATA_BYTES, 40)
  bytes.writeInt16LE(index + 1, bytes.length - 200)
  return bytes
}
