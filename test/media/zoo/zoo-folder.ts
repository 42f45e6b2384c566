import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type TestFolder, testFolder } from '../../helpers/media-factory.js'
import { blurayWords } from './zoo-bytes.js'
import { ZOO_TEXTS } from './zoo-parts.js'
import type { ZooRow } from './zoo-rows.js'

const run = promisify(execFile)

/** A folder in which the files of the zoo are made when they are asked for. */
export interface ZooFolder extends TestFolder {
  take(row: ZooRow): Promise<string>
}

/** Makes one, with all that the files are put together from. */
export async function zooFolder(): Promise<ZooFolder> {
  const folder = await testFolder()
  const make = (...args: readonly string[]) =>
    run('ffmpeg', ['-hide_banner', '-v', 'error', '-nostdin', '-y', ...args], { cwd: folder.path })
  for (const [name, text] of Object.entries(ZOO_TEXTS)) await writeFile(join(folder.path, name), text)
  await writeFile(join(folder.path, 'words.sup'), blurayWords())
  await make('-f', 'lavfi', '-i', 'color=red:s=32x32', '-frames:v', '1', 'cover.png')
  return {
    ...folder,
    async take({ name, args, finish }) {
      const path = folder.file(name)
      if (existsSync(path)) return path
      await make(...args, name)
      if (finish) await writeFile(path, finish(await readFile(path)))
      return path
    },
  }
}
