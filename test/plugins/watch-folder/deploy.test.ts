import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const path = (name: string) => fileURLToPath(new URL(`../../../plugins/watch-folder/deploy/${name}`, import.meta.url))
const text = (name: string) => readFileSync(path(name), 'utf8')
const CAN_ANALYZE = spawnSync('systemd-analyze', ['--version']).status === 0

describe('the systemd unit', () => {
  it.skipIf(!CAN_ANALYZE)(`is one to systemd${CAN_ANALYZE ? '' : ' (skipped: no systemd-analyze)'}`, () => {
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', path('voxmux-watch.service')])
    expect([status, String(stderr)]).toEqual([0, ''])
  })

  it.skipIf(!CAN_ANALYZE)(`exposes little${CAN_ANALYZE ? '' : ' (skipped: no systemd-analyze)'}`, () => {
    const args = ['security', '--offline=yes', '--no-pager', '--threshold=25', path('voxmux-watch.service')]
    const { status, stdout } = spawnSync('systemd-analyze', args)
    expect([status, status === 0 ? '' : String(stdout)]).toEqual([0, ''])
  })
})

describe('the container', () => {
  it('runs as nobody of importance, on ffmpeg of Debian', () => {
    const lines = text('Dockerfile').split('\n')
    expect(lines.filter((line) => line.startsWith('FROM '))).toEqual(['FROM node:20-bookworm-slim'])
    expect(lines.filter((line) => line.startsWith('USER '))).toEqual(['USER node'])
    expect(lines.findIndex((line) => line.startsWith('USER '))).toBeGreaterThan(
      lines.findLastIndex((line) => line.startsWith('RUN ')),
    )
  })

  it('publishes its dashboard to the machine alone, and can do nothing it need not', () => {
    const compose = text('compose.yaml')
    expect(compose).toMatch(/^ {6}- 127\.0\.0\.1:8780:8780$/m)
    expect(compose).toContain('cap_drop: [ALL]')
    expect(compose).toContain('no-new-privileges:true')
    expect(compose).toContain('read_only: true')
  })
})
