import { throwIfAborted } from '../../core/abort.js'
import { readPcmParts } from '../pcm/pcm-file.js'
import type { SampleRange, VoiceCut } from '../voice-cut.js'
import type { VoiceAlignment } from './align-voice.js'

/** Reads parts of a cut, each beside the same part of its regenerated audio. A pair is valid until the next one. */
export async function* pairedParts(
  cut: VoiceCut,
  { regenerated: { pcm, startSample }, lagSamples }: VoiceAlignment,
  ranges: readonly SampleRange[],
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly [before: Buffer, after: Buffer]> {
  const shift = startSample + lagSamples
  const shifted = ranges.map((range) => ({
    startSample: range.startSample + shift,
    endSample: range.endSample + shift,
  }))
  const regenerated = readPcmParts(pcm, shifted)
  try {
    for await (const before of readPcmParts(cut.pcm, ranges)) {
      throwIfAborted(signal)
      const after = await regenerated.next()
      if (after.done) return
      yield [before, after.value]
    }
  } finally {
    await regenerated.return(undefined)
  }
}
