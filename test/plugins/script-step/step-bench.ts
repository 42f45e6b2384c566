import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach } from 'vitest'
import type { StepOptions } from 'voxmux/step'
import { FaultServer } from '../../helpers/fault-server.js'
import { fixture } from '../../helpers/job-bench.js'
import { type TestFolder, testFolder } from '../../helpers/media-factory.js'

/** A fault server and a folder, new for each test, and the options by which steps find both. */
export interface StepBench {
  readonly server: FaultServer
  readonly folder: TestFolder
  readonly options: StepOptions & { readonly cwd: string; readonly env: Record<string, string> }
  take(name: string, as?: string): Promise<string>
  /** A WAV of a second whose voice no other has. */
  voice(index: number): Promise<string>
}

/** Sets a bench up around each test of the file that calls it. */
export function stepBench(): StepBench {
  let server: FaultServer
  let folder: TestFolder
  beforeEach(async () => {
    server = await FaultServer.start()
    folder = await testFolder()
  })
  afterEach(async () => {
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
    get options() {
      return { cwd: folder.path, env: { ...server.env, VOXMUX_STATE_DIR: folder.file('state') } }
    },
    async take(name, as = name) {
      await copyFile(fixture(name), folder.file(as))
      return folder.file(as)
    },
    async voice(index) {
      const path = folder.file(`voice-${index}.wav`)
      await writeFile(path, await secondOfSpeech(index))
      return path
    },
  }
}

/** The first second of the speech, with a sample of its own. */
export async function secondOfSpeech(index: number): Promise<Buffer> {
  const dataBytes = 96_000
  const bytes = (await readFile(fixture('speech.wav'))).subarray(0, 44 + dataBytes)
  bytes.writeUInt32LE(36 + dataBytes, 4)
  bytes.writeUInt32LE(dataBytes, 40)
  bytes.writeInt16LE(index + 1, bytes.length - 200)
  return bytes
}
