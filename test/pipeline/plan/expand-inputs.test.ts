import { copyFile, writeFile } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import { expandInputs } from '../../../src/pipeline/plan/expand-inputs.js'
import { openWorkshop } from '../../helpers/workshop.js'

it('leaves programs in TypeScript out of a folder, and no transport stream', async () => {
  const shop = openWorkshop()
  onTestFinished(() => shop.remove())
  const take = (name: string) => `${shop.dir}/${name}`
  for (const name of ['index.ts', 'types.d.ts', 'build.mts']) await writeFile(take(name), 'export const über = 1\n')
  await copyFile(shop.take('gap.m2ts'), take('news.ts'))
  await writeFile(take('cut-off.ts'), '')
  await writeFile(take('error.mp4'), '404 Not found\n')
  const found = await expandInputs(['.'], shop.dir)
  expect(found).toEqual(['cut-off.ts', 'error.mp4', 'gap.m2ts', 'news.ts'].map(take))
  // A named file is an input whatever it holds.
  expect(await expandInputs(['index.ts'], shop.dir)).toEqual([take('index.ts')])
})
