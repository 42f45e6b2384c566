/**
 * `npm run capture`: runs the built command on the demo's film in an empty folder and draws what it printed as
 * docs/demo.svg. Only the folder's path is shortened. Then it takes docs/ui.png of the page in Chromium.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { capturePage } from './capture-page.js'
import { terminalSvg } from './terminal-svg.js'

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'voxmux-capture-'))
try {
  copyFileSync(path('../fixtures/interview.mp4'), join(dir, 'interview.mp4'))
  const { stdout, stderr, status } = spawnSync(process.execPath, [path('../dist/src/cli/main.js'), 'interview.mp4'], {
    cwd: dir,
    encoding: 'utf8',
    env: { ...process.env, FORCE_COLOR: '1', NO_COLOR: undefined, VOXMUX_STATE_DIR: join(dir, '.state') },
  })
  if (status !== 0) throw new Error(`voxmux ended with ${status}:\n${stderr}`)
  const printed = `\u001b[90m$\u001b[39m voxmux interview.mp4\n${stderr}${stdout}`.replaceAll(`${dir}/`, '~/film/')
  writeFileSync(path('demo.svg'), terminalSvg(printed, 'voxmux regenerates the voice of interview.mp4'))
} finally {
  rmSync(dir, { recursive: true, force: true })
}

await capturePage(path('../fixtures/interview.mp4'), path('ui.png'))
