import { copyFile } from 'node:fs/promises'
import { probe } from '../../media/index.js'
import type { Limits } from '../../precheck/index.js'
import type { VoiceEngine } from './voice-engine.js'

/** The service's own engine, loaded when the first file needs it. */
export function defaultEngine(_limits: Limits): () => Promise<VoiceEngine> {
  return async () => ({
    async processFile({ input, output, onProgress, signal }) {
      const { container } = await probe(input, { signal })
      await copyFile(input, output)
      onProgress(100)
      return { extension: container }
    },
  })
}
