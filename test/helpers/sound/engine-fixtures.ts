import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { lagProducts } from './lag-products.js'
import { waveHeader } from './wave-header.js'

/** A 16-bit WAV of interleaved samples in full scale ±1. */
export function makeWav(path: string, samples: Float32Array, { rate = 48_000, channels = 1 } = {}): void {
  const bytes = Buffer.alloc(samples.length * 2)
  for (const [i, value] of samples.entries()) {
    bytes.writeInt16LE(Math.round(Math.max(-1, Math.min(32_767 / 32_768, value)) * 32_768), 2 * i)
  }
  writeFileSync(path, Buffer.concat([waveHeader(channels, rate, bytes.length), bytes]))
}

/** A file's sound by plain ffmpeg, a late start filled with silence, interleaved, full scale ±1. */
export function decoded(path: string, { rate, channels }: { rate: number; channels: number }): Float32Array {
  const bytes = execFileSync(
    'ffmpeg',
    [
      '-v',
      'error',
      '-i',
      path,
      '-map',
      '0:a:0',
      '-af',
      'aresample=async=1:first_pts=0',
      '-ar',
      String(rate),
      '-ac',
      String(channels),
      '-f',
      'f32le',
      '-',
    ],
    { maxBuffer: 1 << 29 },
  )
  return new Float32Array(Uint8Array.from(bytes).buffer)
}

/** By how many samples `late` lies behind `reference` (negative: before), by the best correlation over a second in the middle. */
export function bestLag(reference: Float32Array, late: Float32Array, reach: number): number {
  const middle = Math.floor(reference.length / 2)
  const start = Math.max(middle - 24_000, 0)
  const window = reference.subarray(start, middle + 24_000)
  const products = lagProducts({ window, sound: late, firstAt: start - reach, lags: 2 * reach + 1 })
  return products.indexOf(Math.max(...products)) - reach
}
