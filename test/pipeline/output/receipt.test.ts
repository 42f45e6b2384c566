import { execFileSync } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { readReceipt } from '../../../src/pipeline/output/receipt.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

it.skipIf(process.platform === 'win32')('takes a pipe or a device of the name of a receipt for none', async () => {
  const [pipe, endless] = [folder.file('a.wav.voxmux.json'), folder.file('b.wav.voxmux.json')]
  execFileSync('mkfifo', [pipe])
  await symlink('/dev/zero', endless)
  expect(await readReceipt(pipe)).toBeUndefined()
  expect(await readReceipt(endless)).toBeUndefined()
})
