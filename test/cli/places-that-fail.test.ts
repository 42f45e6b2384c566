import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openLedger } from '../../src/ledger/index.js'
import { probe } from '../../src/media/index.js'
import { FaultServer } from '../helpers/fault-server.js'
import { NO_MOUNTS } from '../helpers/system/mount-space.js'
import { runCli } from '../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'
import { enqueueAll, request } from '../ledger/store-fixture.js'

/** Root may read everything, unless its capabilities are taken. */
const AS_OWNER = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : []
const IN_A_NAMESPACE = ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c']

let shop: Workshop
beforeAll(() => {
  shop = openWorkshop()
})
afterAll(() => shop.remove())

describe.skipIf(process.platform !== 'linux')('a place that fails (Linux only)', () => {
  it('is not called missing if it may not be read', async () => {
    mkdirSync(shop.path('closed'))
    for (const name of ['film.mkv', 'cut.otio']) writeFileSync(shop.path(`closed/${name}`), '')
    chmodSync(shop.path('closed'), 0)
    const options = { cwd: shop.dir, env: shop.env, through: AS_OWNER }
    for (const args of [
      ['verify', 'closed/film.mkv'],
      ['timeline', 'closed/cut.otio', '-o', 'new.otio'],
    ]) {
      const { exitCode, stdout, stderr } = await runCli(args, options)
      expect([exitCode, stdout + stderr]).toEqual([2, expect.stringMatching(/cannot be read: permission denied\./)])
    }
    chmodSync(shop.path('closed'), 0o755)
  })

  it.skipIf(NO_MOUNTS)('is the root for a user without a home, as in containers (needs a user namespace)', async () => {
    const options = { cwd: shop.dir, through: ['unshare', '--user', '--map-user=4711'] }
    const { exitCode, stderr } = await runCli(['check', shop.takeVoice('homeless.wav')], options)
    expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('fault')])
  })

  it('is named before anything is paid for, if it is the folder of the cache', async () => {
    const server = await FaultServer.start()
    onTestFinished(() => server.close())
    mkdirSync(shop.path('cache'), { mode: 0o500 })
    writeFileSync(shop.path('cache.json'), JSON.stringify({ cacheDir: shop.path('cache') }))
    const input = shop.takeVoice('sent.wav')
    const options = { cwd: shop.dir, env: { ...shop.env, ...server.env }, through: AS_OWNER }
    for (const args of [['run', input, '-o', 'cached.wav'], ['doctor']]) {
      const { exitCode, stdout, stderr } = await runCli([...args, '--config', 'cache.json'], options)
      const message = `The folder of the cache, ${shop.path('cache')}, cannot be used: permission denied.`
      expect([exitCode, stdout + stderr]).toEqual([2, expect.stringContaining(message)])
    }
    expect(server.calls.registerFile).toBe(0)
  })

  it.skipIf(NO_MOUNTS || process.getuid?.() !== 0)(
    'is named before anything is paid for, if it keeps the output of another user (needs root)',
    async () => {
      const server = await FaultServer.start()
      onTestFinished(() => server.close())
      mkdirSync(shop.path('shared'))
      const input = shop.takeVoice('theirs.wav')
      const options = { cwd: shop.dir, env: { ...shop.env, ...server.env } }
      for (const [output, name] of [
        ['shared/made.wav', 'shared/made.wav'],
        ['shared/left.wav', 'shared/left.wav.voxmux.json'],
        ['shared/page.wav', 'shared/page.wav.voxmux.html'],
      ] as const) {
        const receipt = { schemaVersion: 1, voxmux: '0.1.0' }
        writeFileSync(shop.path(name), JSON.stringify(receipt))
        chownSync(shop.path(name), 4712, 4712)
        chownSync(shop.path('shared'), 4712, 4712)
        chmodSync(shop.path('shared'), 0o1777)
        for (const more of [['--dry-run'], []]) {
          const args = ['run', input, '-o', output, '--force', '--report', ...more]
          const { exitCode, stderr } = await runCli(args, {
            ...options,
            through: ['unshare', '--user', '--map-user=4711'],
          })
          const message = `${shop.path(name)} belongs to another user, and only that user may replace it in this folder`
          expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)])
        }
      }
      expect(server.calls.registerFile).toBe(0)
    },
  )

  it('is named by doctor if it shows a secret to every user', async () => {
    const options = { cwd: shop.dir, env: shop.env }
    const [service, watch] = [{ clientSecret: 'hidden' }, { webhookSecret: 'hidden' }]
    writeFileSync(shop.path('open.json'), JSON.stringify({ profile: 'local', service, watch }))
    const note = 'holds service.clientSecret and watch.webhookSecret, and every user of this machine can read it'
    for (const [mode, isNamed] of [
      [0o644, true],
      [0o640, false],
    ] as const) {
      chmodSync(shop.path('open.json'), mode)
      const { stdout, stderr } = await runCli(['doctor', '--config', 'open.json'], options)
      expect((stdout + stderr).includes(`${shop.path('open.json')} ${note}`)).toBe(isNamed)
      expect(stdout + stderr).not.toContain('hidden')
    }
  })

  it('is named as a pipe, with the way to read one', async () => {
    execFileSync('mkfifo', [shop.path('fifo.wav')])
    for (const kind of ['pipe', 'socket']) symlinkSync(`${kind}:[123]`, shop.path(kind))
    for (const name of ['fifo.wav', 'pipe', 'socket'])
      await expect(probe(shop.path(name))).rejects.toMatchObject({
        message: `${shop.path(name)} is not a regular file.`,
        remedies: ['Pipe it in: `… | voxmux run - -o FILE`.'],
      })
  })

  it.skipIf(NO_MOUNTS)(
    'is called read-only if a state folder is on a read-only mount (needs mounts of its own)',
    async () => {
      mkdirSync(shop.path('mount'))
      const mount = 'mount --bind mount mount && mount -o remount,bind,ro mount && exec "$@"'
      const { exitCode, stderr } = await runCli(['jobs', 'list'], {
        ...{ cwd: shop.dir, through: [...IN_A_NAMESPACE, mount, 'sh'] },
        env: { ...shop.env, VOXMUX_STATE_DIR: shop.path('mount/state') },
      })
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('its file system is mounted read-only')])
    },
  )

  it.skipIf(NO_MOUNTS)('is called out of inodes if its disk has free bytes (needs mounts of its own)', async () => {
    mkdirSync(shop.path('inodes'))
    const input = shop.takeVoice('small.wav')
    const mount = 'mount -t tmpfs -o size=60m,nr_inodes=2 none inodes && : > inodes/last && exec "$@"'
    const { exitCode, stderr } = await runCli(['run', input, '-o', 'inodes/out.wav'], {
      ...{ cwd: shop.dir, env: shop.env, through: [...IN_A_NAMESPACE, mount, 'sh'] },
    })
    expect([exitCode, stderr]).toEqual([
      4,
      expect.stringContaining(`${shop.path('inodes')}: its inodes are all in use`),
    ])
  })

  it.skipIf(NO_MOUNTS)('is named if an export of the ledger fills it (needs mounts of its own)', async () => {
    mkdirSync(shop.path('small'))
    const ledger = await openLedger(shop.path('jobs.sqlite'))
    await enqueueAll(
      ledger.jobs,
      Array.from({ length: 9 }, (_, n) => request(`k${n}`, { group: 'g'.repeat(1000) })),
    )
    await ledger.close()
    const mount = 'mount -t tmpfs -o size=4k none small && exec "$@"'
    const { exitCode, stderr } = await runCli(['jobs', 'export', 'small/a.ndjson', '--ledger', 'jobs.sqlite'], {
      ...{ cwd: shop.dir, env: shop.env, through: [...IN_A_NAMESPACE, mount, 'sh'] },
    })
    expect([exitCode, stderr]).toEqual([
      4,
      expect.stringContaining(`No space left while writing ${shop.path('small/a.ndjson')}.`),
    ])
  })
})
