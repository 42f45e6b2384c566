import { copyFile, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach } from 'vitest'
import { FaultServer } from './fault-server.js'
import { ffmpeg, ffmpegOutput, type TestFolder, testFolder } from './media-factory.js'
import { openTestPipeline, type TestPipeline } from './test-pipeline.js'

export const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url))

/** A fault server, a folder and a pipeline between them, new for each test. */
export interface JobBench {
  readonly server: FaultServer
  readonly folder: TestFolder
  readonly pipeline: TestPipeline
  /** Copies a fixture into the folder. */
  take(name: string): Promise<string>
  /** Makes every answer by ffmpeg options over what was sent. */
  answerWith(...args: readonly string[]): void
}

/** Sets a bench up around each test of the file that calls it. */
export function jobBench(): JobBench {
  let server: FaultServer
  let folder: TestFolder
  let pipeline: TestPipeline
  beforeEach(async () => {
    server = await FaultServer.start()
    folder = await testFolder()
    pipeline = await openTestPipeline(server, folder.file('state'))
  })
  afterEach(async () => {
    await pipeline.close()
    await server.close()
    await folder.remove()
  })
  return {
    get server() {
      return server
    },
    get folder() {
      return folder
    },
    get pipeline() {
      return pipeline
    },
    async take(name) {
      await copyFile(fixture(name), folder.file(name))
      return folder.file(name)
    },
    answerWith(...args) {
      server.behaviour.regenerate = async (path, { fileId }) => {
        const answer = folder.file(`${fileId}.flac`)
        await ffmpeg('-i', path, ...args, '-f', 'flac', answer)
        return readFile(answer)
      }
    },
  }
}

/** Raw samples of an audio track as the system's ffmpeg decodes it. */
export function decodedPcm(path: string, track = 0): Promise<Buffer> {
  return ffmpegOutput('-i', path, '-map', `0:a:${track}`, '-f', 's32le', '-c:a', 'pcm_s32le', 'pipe:1')
}

/** Hash of the packets of the streams that a selector names. */
export async function streamHash(path: string, selector: string): Promise<string> {
  return (await ffmpegOutput('-i', path, '-map', selector, '-c', 'copy', '-f', 'streamhash', 'pipe:1')).toString()
}
