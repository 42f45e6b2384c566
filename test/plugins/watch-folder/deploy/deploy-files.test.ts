import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { watchSchema } from '../../../../src/config/watch-schema.js'

const path = (name: string) =>
  fileURLToPath(new URL(`../../../../plugins/watch-folder/deploy/${name}`, import.meta.url))
const text = (name: string) => readFileSync(path(name), 'utf8')
/** What a configuration says of the watch folder, as voxmux reads it. */
const watched = (name: string) => watchSchema.parse(JSON.parse(text(name)).watch)
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

describe('the configuration of the unit', () => {
  it('names its state folder, so that a command with this configuration finds the jobs of the service', () => {
    const state = /VOXMUX_STATE_DIR=(\S+)/.exec(text('voxmux-watch.service'))?.[1]
    expect(JSON.parse(text('watch.json')).stateDir).toBe(state)
  })
})

describe('the container', () => {
  it('runs as nobody of importance, on ffmpeg of Debian', () => {
    const lines = text('Dockerfile').split('\n')
    expect(lines.filter((line) => line.startsWith('FROM '))).toHaveLength(1)
    expect(lines).toContain('ARG BASE=node:24-bookworm-slim')
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

  it('starts what the package has, with a configuration that it takes, and listens where it is asked', () => {
    const manifest = JSON.parse(
      readFileSync(fileURLToPath(new URL('../../../../package.json', import.meta.url)), 'utf8'),
    )
    expect(manifest.bin).toHaveProperty('voxmux')
    expect(manifest.files).toContain('plugins/watch-folder/deploy')
    const [dockerfile, compose] = [text('Dockerfile'), text('compose.yaml')]
    const command = JSON.parse(/^CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? 'null')
    expect(command).toEqual(['watch', '--config', '/etc/voxmux/watch.json'])
    expect(JSON.parse(/^ENTRYPOINT (\[.*\])$/m.exec(dockerfile)?.[1] ?? 'null').at(-1)).toBe('voxmux')
    expect(compose).toContain(`command: [${command.join(', ')}]`)
    expect(compose).toContain(`./container.json:${command[2]}:ro`)
    const { port, host } = watched('container.json').dashboard ?? {}
    expect([port, host]).toEqual([8780, '0.0.0.0'])
    for (const place of [/^EXPOSE 8780$/m, /127\.0\.0\.1:8780\/healthz/]) expect(dockerfile).toMatch(place)
    // The state folder is the one volume that outlives the container.
    const volume = dirname(/VOXMUX_STATE_DIR=(\S+)/.exec(dockerfile)?.[1] ?? '')
    expect(dockerfile).toContain(`VOLUME ${volume}\n`)
    expect(compose).toContain(`- state:${volume}\n`)
    // The user of the compose file, or of a pod, makes the state folder in it.
    expect(dockerfile).toContain(`install --directory --mode=1777 ${volume} `)
  })

  it('is configured as the unit is: folders below what each may write to', () => {
    for (const [name, root] of [
      ['container.json', '/media'],
      ['watch.json', '/srv/media'],
    ] as const)
      for (const { path, out, failed } of watched(name).folders ?? [])
        for (const folder of [path, out, failed]) expect(folder).toMatch(new RegExp(`^${root}/`))
    expect(text('voxmux-watch.service')).toContain('ReadWritePaths=-/srv/media')
  })
})
