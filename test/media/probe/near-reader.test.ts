import { open, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { nearReader } from '../../../src/media/probe/near-reader.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

it('reads the bytes of the file, wherever they lie', async () => {
  const bytes = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 7 + (at >> 8)) & 255))
  await writeFile(folder.file('bytes'), bytes)
  await using file = await open(folder.file('bytes'))
  const read = nearReader(file)
  for (let at = 0; at < 1000; at += 8) expect(await read(at, 16)).toEqual(bytes.subarray(at, at + 16))
  for (const [at, length] of [
    [4000, 8],
    [0, 8],
    [4990, 16],
    [4995, 2000],
    [6000, 8],
    [100, 3000],
    [200, 2900],
  ] as const)
    expect(await read(at, length), `${at}`).toEqual(bytes.subarray(at, at + length))
})
