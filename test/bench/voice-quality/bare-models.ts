import { GTCRN_RATE, Gtcrn } from '../../../src/voice/gtcrn.js'
import { VOICE_SAMPLE_RATE } from '../../../src/voice/index.js'
import { Rnnoise } from '../../../src/voice/rnnoise.js'
import { resample } from './resample.js'

/** Runs a model over a sound at its own rate and gives it back as long and in place. */
export type BareModel = (samples: Float32Array, sampleRate: number) => Float32Array

/** The two models of the embedded engine, each alone and at its word: what the engine is measured against. */
export async function loadBareModels(): Promise<Readonly<Record<'rnnoise' | 'gtcrn', BareModel>>> {
  const [rnnoise, gtcrn] = [await Rnnoise.load(), await Gtcrn.load()]
  const at = (modelRate: number, run: (samples: Float32Array) => Float32Array): BareModel => {
    return (samples, sampleRate) =>
      resample(run(resample(samples, sampleRate, modelRate)), modelRate, sampleRate).slice(0, samples.length)
  }
  return {
    rnnoise: at(VOICE_SAMPLE_RATE, (samples) => rnnoise.run(samples).voice),
    gtcrn: at(GTCRN_RATE, (samples) => gtcrn.run(samples)),
  }
}
