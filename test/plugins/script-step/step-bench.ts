import { copyFile, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach } from 'vitest'
import type { StepOptions } from 'voxmux/step'
import { FaultServer } from '../../helpers/fault-server.js'
import { fixture } from '../../helpers/job-bench.js'
import { type TestFolder, testFolder } from '../../helpers/media-factory.js'
import { secondOfSpeech } from '../../helpers/sound/second-of-speech.js'
import { knowTools, learnTools } from '../../helpers/tool-facts/known-tools.js'

/** A fault server and a folder, new for each test, and the options by which steps find both. */
export interface StepBench {
  readonly server: FaultServer
  readonly folder: TestFolder
  readonly options: StepOptions & { readonly cwd: string; readonly env: Record<string, string> }
  take(name: string, as?: string): Promise<string>
  /** A WAV of a second of speech, another for every index. */
  voice(index: number, as?: string): Promise<string>
}

/** Sets a bench up around each test of the file that calls it. */
export function stepBench(): StepBench {
  let server: FaultServer
  let folder: TestFolder
  beforeEach(async () => {
    server = await FaultServer.start()
    folder = await testFolder()
    knowTools(folder.file('state'))
  })
  afterEach(async () => {
    await server.close()
    learnTools(folder.file('state'))
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
    async voice(index, as = `voice-${index}.wav`) {
      await writeFile(folder.file(as), secondOfSpeech(index))
      return folder.file(as)
    },
  }
}
