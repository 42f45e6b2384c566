import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serviceFile } from '../../plugins/watch-folder/service-files.js'
import { settingsSchema } from '../../src/config/index.js'
import { CLI_PATH, eventsOf, runCli } from '../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'

let shop: Workshop
beforeEach(() => {
  shop = openWorkshop()
})
afterEach(() => shop.remove())

const init = (...args: readonly string[]) => runCli(['init', ...args], { cwd: shop.dir, env: shop.env })
const config = (name = 'c.json') => settingsSchema.parse(JSON.parse(readFileSync(shop.path(name), 'utf8')))
const CAN_ANALYZE = spawnSync('systemd-analyze', ['--version']).status === 0

it('says why it cannot make a folder', async () => {
  writeFileSync(shop.path('file'), '')
  symlinkSync('unmounted', shop.path('link'))
  for (const [folder, name, place, reason] of [
    ['file', 'c.json', 'file', 'a file has that name.'],
    ['in', 'file/c.json', 'file', 'a file has that name.'],
    ['link', 'c.json', 'link', 'it is a link to nothing, or'],
  ] as const) {
    const { exitCode, stderr } = await init(folder, '--yes', '--config', name)
    const message = `The folder ${shop.path(place)} cannot be created: ${reason}`
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)])
  }
})

it('writes a configuration and a unit of this machine from flags, and never over one that exists', async () => {
  const args = ['my in', '--yes', '--preset', 'podcast', '--unit', 'systemd', '--config', 'c.json', '--json']
  const made = await init(...args)
  expect(made.exitCode, made.stderr).toBe(0)
  const path = shop.path('my in')
  expect(config()).toMatchObject({ watch: { folders: [{ path, preset: 'podcast' }] } })
  expect([config().service, existsSync(path)]).toEqual([undefined, true])
  const unit = shop.path('voxmux-watch.service')
  expect(eventsOf(made)[0]).toMatchObject({ event: 'initialized', config: shop.path('c.json'), folder: path, unit })
  const lines = readFileSync(unit, 'utf8').split('\n')
  expect(lines).toContain(`ExecStart=${process.execPath} ${CLI_PATH} watch --config ${shop.path('c.json')}`)
  expect(lines).toContain(`User=${userInfo().username}`)
  expect(lines).toContain(`ReadWritePaths=-${shop.env.VOXMUX_STATE_DIR} "-${path}"`)
  expect(lines.filter((line) => line.startsWith('StateDirectory'))).toEqual([])
  if (CAN_ANALYZE) {
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
  }

  const before = readFileSync(shop.path('c.json'), 'utf8')
  const again = await init('other', ...args.slice(1))
  expect([again.exitCode, eventsOf(again)[0]?.error]).toMatchObject([2, { code: 'ERR_CONFIG_EXISTS' }])
  expect([readFileSync(shop.path('c.json'), 'utf8'), existsSync(shop.path('other'))]).toEqual([before, false])
})

it('writes a unit that sees folders below /tmp', () => {
  const values = { voxmux: ['/usr/bin/voxmux'], config: '/etc/watch.json', environment: '/etc/env', user: 'ada' }
  const unit = (stateDir: string, folder: string) =>
    serviceFile('systemd', { ...values, stateDir, writes: [folder] }).text.match(/^PrivateTmp=.*$/m)?.[0]
  expect(unit('/srv/state', '/srv/tmp/in')).toBe('PrivateTmp=yes')
  expect([unit('/srv/state', '/tmp/in'), unit('/var/tmp/s', '/srv/in')]).toEqual(['PrivateTmp=no', 'PrivateTmp=no'])
})

it('writes a dollar sign as systemd reads it: doubled in commands alone', async () => {
  const made = await init('share$', '--yes', '--unit', 'systemd', '--config', '50%$.json')
  expect(made.exitCode, made.stderr).toBe(0)
  const lines = readFileSync(shop.path('voxmux-watch.service'), 'utf8').split('\n')
  expect(lines).toContain(`ExecStart=${process.execPath} ${CLI_PATH} watch --config ${shop.path('50%%$$.json')}`)
  expect(lines).toContain(`ReadWritePaths=-${shop.env.VOXMUX_STATE_DIR} -${shop.path('share$')}`)
})

it.each([
  ['launchd', 'voxmux.watch.plist', '<string>--config</string>'],
  ['windows', 'voxmux-watch.ps1', `'"--config"'`],
])('fills in the file of %s', async (unit, name, word) => {
  const made = await init('in', '--yes', '--unit', unit, '--config', 'a&b.json')
  expect(made.exitCode, made.stderr).toBe(0)
  const text = readFileSync(shop.path(name), 'utf8')
  expect(text).toContain(word)
  expect(text).toContain(unit === 'launchd' ? 'a&amp;b.json' : 'a&b.json')
  expect(text).toContain(shop.env.VOXMUX_STATE_DIR)
  expect(text).not.toContain('{{')
  expect(made.stdout).toContain(name)
})

it.runIf(process.getuid?.() === 0)('makes a service of the one who owns the folder, not of root', async () => {
  mkdirSync(shop.path('media'))
  chownSync(shop.path('media'), 4321, 4321)
  const { VOXMUX_STATE_DIR: _, ...own } = shop.env
  const caller = { ...own, SUDO_UID: '1234', SUDO_GID: '1235', SUDO_USER: 'anna' }
  for (const [folder, user, owner] of [
    ['media', '4321', [4321, 4321]],
    ['new', 'anna', [1234, 1235]],
  ] as const) {
    const args = ['init', folder, '--yes', '--unit', 'systemd', '--config', `${user}/c.json`]
    const made = await runCli(args, { cwd: shop.dir, env: caller })
    expect(made.stdout).toContain(`The service runs as ${user}.`)
    const { uid, gid } = statSync(shop.path(folder))
    expect([uid, gid]).toEqual(owner)
    expect(config(`${user}/c.json`).stateDir).toBe('/var/lib/voxmux')
    const lines = readFileSync(shop.path(`${user}/voxmux-watch.service`), 'utf8').split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        `User=${user}`,
        'StateDirectory=voxmux',
        'Environment=VOXMUX_STATE_DIR=/var/lib/voxmux NODE_ENV=production',
      ]),
    )
    expect(lines.filter((line) => line.startsWith('Group='))).toEqual([])
  }
})

it('prints commands that can be pasted', async () => {
  const made = await init('in', '--yes', '--config', "an editor's.json")
  const path = `'${shop.path("an editor'\\''s.json")}'`
  expect(made.stdout).toContain(`Check it:  voxmux doctor --config ${path}\n`)
  expect(made.stdout).toContain(`Start it:  voxmux watch --config ${path}\n`)
})

describe('without a person to ask', () => {
  it.each([
    [['--no-input'], 'FOLDER --service embedded --preset NAME --unit none (or FOLDER --yes for the defaults)'],
    [['in', '--preset', 'podcast', '--unit', 'none'], 'Pass --service embedded'],
    [['--yes'], 'Pass FOLDER'],
    [['in', '--yes', '--service', 'remote'], 'VOXMUX_BASE_URL=… VOXMUX_AUTH_URL=…'],
  ])('%j says what to pass, and writes nothing', async (args, said) => {
    const { exitCode, stderr } = await init(...args, '--config', 'c.json')
    expect([exitCode, existsSync(shop.path('c.json')), existsSync(shop.path('in'))]).toEqual([2, false, false])
    expect(stderr).toContain(said)
  })
})

it('asks in a terminal, and keeps the secret out of the file', () => {
  writeFileSync(
    shop.path('answers'),
    ['in', '2', 'https://a.example', 'https://b.example', 't', 'c', 's', '3', '1', ''].join('\n'),
  )
  const command = `${process.execPath} ${CLI_PATH} init --config c.json`
  const env = { PATH: '/usr/bin:/bin', ...shop.env, VOXMUX_CLIENT_SECRET: 'hush' }
  const options = { cwd: shop.dir, env, input: readFileSync(shop.path('answers')), encoding: 'utf8' } as const
  const shown = execFileSync('script', ['-qec', command, '/dev/null'], options)
  expect(shown).toContain('Which service regenerates the voice?')
  expect(shown).toContain('Set VOXMUX_CLIENT_SECRET')
  const service = {
    baseUrl: 'https://a.example',
    authUrl: 'https://b.example',
    tenantId: 't',
    clientId: 'c',
    scope: 's',
  }
  expect(config()).toMatchObject({
    service,
    watch: { folders: [{ path: shop.path('in'), preset: 'dialogue-5.1-center' }] },
  })
  expect(readFileSync(shop.path('c.json'), 'utf8')).not.toContain('hush')
})
