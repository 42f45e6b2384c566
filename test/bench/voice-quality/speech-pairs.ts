import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface SpeechPair {
  readonly name: string
  readonly sampleRate: number
  readonly noisy: Float32Array
  readonly clean: Float32Array
}

/** Folder of `<name>_noisy.wav` and `<name>_clean.wav`; `VOXMUX_SPEECH_DIR`, or `../shared/speech` beside the repository. */
const SPEECH_DIR = resolve(
  process.env.VOXMUX_SPEECH_DIR ?? fileURLToPath(new URL('../../../../shared/speech', import.meta.url)),
)

/** Why there is nothing to measure on, or undefined where there is. */
export const NO_SPEECH = existsSync(SPEECH_DIR)
  ? undefined
  : `no speech in ${SPEECH_DIR} (set VOXMUX_SPEECH_DIR to a folder of <name>_noisy.wav and <name>_clean.wav)`

/** The pairs of {@link SPEECH_DIR}, mono, in the order of their names. */
export async function readSpeechPairs(): Promise<SpeechPair[]> {
  const names = readdirSync(SPEECH_DIR)
    .filter((file) => file.endsWith('_noisy.wav'))
    .map((file) => file.slice(0, -'_noisy.wav'.length))
    .sort()
  return Promise.all(
    names.map(async (name) => {
      const noisy = await readMonoWav(join(SPEECH_DIR, `${name}_noisy.wav`))
      const clean = await readMonoWav(join(SPEECH_DIR, `${name}_clean.wav`))
      return { name, sampleRate: noisy.sampleRate, noisy: noisy.samples, clean: clean.samples }
    }),
  )
}

/** A 16-bit mono WAV, full scale ±1. */
async function readMonoWav(path: string): Promise<{ sampleRate: number; samples: Float32Array }> {
  const bytes = await readFile(path)
  let sampleRate = 0
  for (let at = 12; at + 8 <= bytes.length; ) {
    const id = bytes.toString('latin1', at, at + 4)
    const size = bytes.readUInt32LE(at + 4)
    if (id === 'fmt ') {
      if (bytes.readUInt16LE(at + 10) !== 1 || bytes.readUInt16LE(at + 22) !== 16) {
        throw new Error(`${path} is not mono with 16 bits.`)
      }
      sampleRate = bytes.readUInt32LE(at + 12)
    }
    if (id === 'data') {
      const count = Math.min(size, bytes.length - at - 8) >> 1
      const samples = Float32Array.from({ length: count }, (_, i) => bytes.readInt16LE(at + 8 + 2 * i) / 32768)
      return { sampleRate, samples }
    }
    at += 8 + size + (size % 2)
  }
  throw new Error(`${path} has no sound.`)
}
