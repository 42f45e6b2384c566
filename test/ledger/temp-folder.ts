import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/**
 * A folder of the test's own, gone when it is over. On Windows it stays: libsql holds a closed database open until its
 * statements are collected as garbage, and Windows removes no open file.
 */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'voxmux-jobs-'))
  if (process.platform !== 'win32') onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
