import { execFile } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { fixture } from '../helpers/job-bench.js'
import { testFolder } from '../helpers/media-factory.js'
import { NO_MOUNTS } from '../helpers/system/mount-space.js'

const MAIN = fileURLToPath(new URL('./full-disk-main.ts', import.meta.url))

/** Runs its arguments with a small disk of their own at the first word. */
const SMALL_DISK = 'mount -t tmpfs -o size=64m state "$0" && exec "$@"'

const title = 'a job ends when the disk of its embedded service is full, and says what to do'

it.skipIf(NO_MOUNTS)(NO_MOUNTS ? `${title} (skipped: ${NO_MOUNTS})` : title, async () => {
  const folder = await testFolder()
  onTestFinished(() => folder.remove())
  const [stateDir, output] = [folder.file('state'), folder.file('out.wav')]
  mkdirSync(stateDir)
  const job = [process.execPath, '--import', 'tsx', MAIN, stateDir, fixture('speech.wav'), output]
  const inSpace = ['--user', '--map-root-user', '--mount', 'sh', '-c', SMALL_DISK, stateDir, ...job]
  const running = promisify(execFile)('unshare', inSpace)
  onTestFinished(() => void running.child.kill('SIGKILL'))
  const { stdout } = await running
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ status: 'failed', exitCode: 4, code: 'ERR_DISK_FULL' },
    message: expect.stringContaining(`No space left while writing ${stateDir}`),
    remedies: [expect.stringMatching(/^Free some space/), expect.stringContaining('VOXMUX_STATE_DIR')],
  })
  expect(existsSync(output)).toBe(false)
})
