import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeFolder } from '../../src/core/make-folder.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'voxmux-folder-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

it('makes the folder and those above it, and is content with one that is there', () => {
  const folder = join(root, 'a', 'b', 'c')
  expect(makeFolder(folder, 0o700)).toEqual([root, join(root, 'a'), join(root, 'a', 'b')])
  expect(makeFolder(folder, 0o700)).toEqual([])
  expect(existsSync(folder)).toBe(true)
})

it.skipIf(process.platform === 'win32')('gives all of them their mode (not on Windows, which has none)', () => {
  makeFolder(join(root, 'a', 'b'), 0o700)
  expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o700)
})

it('says that a file stands in its place', () => {
  writeFileSync(join(root, 'file'), '')
  expect(() => makeFolder(join(root, 'file'))).toThrow(expect.objectContaining({ code: 'EEXIST' }))
  expect(() => makeFolder(join(root, 'file', 'sub'))).toThrow(
    expect.objectContaining({ code: process.platform === 'win32' ? 'ENOENT' : 'ENOTDIR' }),
  )
})

it.runIf(process.platform === 'linux')('ends where the kernel makes no folders', () => {
  expect(() => makeFolder('/proc/voxmux-nope/sub')).toThrow(expect.objectContaining({ code: 'ENOENT' }))
})
