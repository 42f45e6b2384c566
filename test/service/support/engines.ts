import { copyFile, readFile } from 'node:fs/promises'
import type { FileEngine } from '../../../src/service/index.js'

/** An engine that gives back what it got: for tests of everything around it. */
export const plainEngine = async (): Promise<FileEngine> => ({
  async processFile({ input, output, onProgress }) {
    await copyFile(input, output)
    onProgress(100)
    return { extension: 'wav' }
  },
})

/** A small real voice file. */
export function fixtureVoice(): Promise<Buffer> {
  return readFile(new URL('../../../fixtures/speech.wav', import.meta.url))
}
