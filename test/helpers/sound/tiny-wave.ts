import { waveHeader } from './wave-header.js'

const SAMPLES = 4000

/** A mono WAV of half a second, 8 kHz, 16 bits: noise that is another for every number. */
export function tinyWave(number: number): Buffer {
  const samples = Buffer.alloc(2 * SAMPLES)
  let state = number + 1
  for (let at = 0; at < samples.length; at += 2) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    samples.writeInt16LE(state >> 18, at)
  }
  return Buffer.concat([waveHeader(1, 8000, samples.length), samples])
}
