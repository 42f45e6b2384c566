import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { type TestFolder, testFolder } from '../media-factory.js'

/** A folder for all tests of the file or group that calls it, from their beginning to their end. */
export function folderOfTests(): TestFolder {
  return folderBetween(beforeAll, afterAll)
}

/** The same, but a new one for each test. */
export function folderOfEachTest(): TestFolder {
  return folderBetween(beforeEach, afterEach)
}

function folderBetween(before: typeof beforeAll | typeof beforeEach, after: typeof afterAll | typeof afterEach) {
  let folder: TestFolder
  before(async () => {
    folder = await testFolder()
  })
  after(() => folder.remove())
  return {
    get path() {
      return folder.path
    },
    file: (name: string) => folder.file(name),
    remove: () => folder.remove(),
  }
}
