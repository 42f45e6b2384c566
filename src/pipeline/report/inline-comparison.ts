import { readFile } from 'node:fs/promises'
import type { Comparison, Side } from './comparison.js'

/** Embeds the files of a comparison in a standalone page as data addresses. */
export async function inlineComparison(comparison: Comparison): Promise<Comparison> {
  const [before, after] = await Promise.all([inlineSide(comparison.before), inlineSide(comparison.after)])
  return { ...comparison, before, after }
}

async function inlineSide({ audio, waveform, spectrogram }: Side): Promise<Side> {
  return {
    audio: await dataAddress('audio/mp4', audio),
    waveform: await dataAddress('image/png', waveform),
    spectrogram: await dataAddress('image/png', spectrogram),
  }
}

async function dataAddress(type: string, path: string): Promise<string> {
  return `data:${type};base64,${(await readFile(path)).toString('base64')}`
}
