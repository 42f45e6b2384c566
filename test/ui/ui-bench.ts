import { copyFile, mkdir } from 'node:fs/promises'
import { afterEach, beforeEach } from 'vitest'
import { silentLogger } from '../../src/core/logger.js'
import { startUi, type Ui } from '../../src/ui/index.js'
import { fixture } from '../helpers/job-bench.js'
import { type TestFolder, testFolder } from '../helpers/media-factory.js'

export interface UiBench {
  readonly ui: Ui
  readonly folder: TestFolder
  /** Folders that the page asked to open. */
  readonly opened: readonly string[]
  /** Copies a fixture into the folder. */
  take(name: string): Promise<string>
}

/** A page over a folder of its own, with the embedded service, new for each test of the file that calls it. */
export function uiBench(): UiBench {
  let ui: Ui
  let folder: TestFolder
  let opened: string[] = []
  beforeEach(async () => {
    folder = await testFolder()
    opened = []
    await mkdir(folder.file('media'))
    ui = await startUi({
      ...{ cwd: folder.file('media'), file: null, port: 0, config: undefined, settings: {}, logger: silentLogger },
      env: { ...process.env, VOXMUX_STATE_DIR: folder.file('state') },
      openFolder: async (path) => {
        opened.push(path)
        return true
      },
    })
  })
  afterEach(async () => {
    await ui.close()
    await folder.remove()
  })
  return {
    get ui() {
      return ui
    },
    get folder() {
      return folder
    },
    get opened() {
      return opened
    },
    async take(name) {
      const path = folder.file(`media/${name}`)
      await copyFile(fixture(name), path)
      return path
    },
  }
}
