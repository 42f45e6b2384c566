import { mkdirSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ServiceManager } from '../../../plugins/watch-folder/service-manager.js'
import { silentLogger } from '../../../src/core/logger.js'
import { listenAsSystemd, NO_SYSTEMD_NOTIFY, type SystemdListener } from '../../helpers/system/systemd-listener.js'
import { watchBench } from './watch-bench.js'

describe.skipIf(NO_SYSTEMD_NOTIFY)(
  `the word to systemd${NO_SYSTEMD_NOTIFY ? ` (skipped: ${NO_SYSTEMD_NOTIFY})` : ''}`,
  () => {
    const bench = watchBench()
    let systemd: SystemdListener
    beforeEach(async () => {
      systemd = await listenAsSystemd()
    })
    afterEach(() => systemd.close())

    const env = (more: NodeJS.ProcessEnv = {}) => ({ PATH: process.env.PATH, NOTIFY_SOCKET: systemd.socket, ...more })
    const heard = (pattern: RegExp) => systemd.heard(pattern)

    it('says ready, feeds the watchdog from the loop, and says when it stops', async () => {
      const manager = new ServiceManager({ env: env({ WATCHDOG_USEC: '100000' }) })
      await manager.ready('2 folders')
      await heard(/READY=1/)
      await heard(/STATUS=2 folders/)
      await heard(/WATCHDOG=1.*WATCHDOG=1/)
      await manager.stopping()
      await heard(/STOPPING=1/)
    })

    it('leaves a watchdog alone that is of another process', async () => {
      const manager = new ServiceManager({ env: env({ WATCHDOG_USEC: '20000', WATCHDOG_PID: '1' }) })
      await manager.ready('x')
      await manager.stopping()
      await heard(/STOPPING=1/)
      expect(systemd.said.join()).not.toContain('WATCHDOG')
    })

    it('is that of the daemon: ready, reloading and ready again, right or wrong, and stopping', async () => {
      const config = bench.workshop.path('voxmux.json')
      const folders = ['in', 'away/in'].map((path) => ({ path: bench.workshop.path(path) }))
      writeFileSync(config, JSON.stringify({ watch: { folders, scanSec: 1 } }))
      const daemon = bench.watchConfiguredThrough(['env', `NOTIFY_SOCKET=${systemd.socket}`], config)
      await heard(/READY=1 STATUS=Watching \S+\/in; \S+\/away\/in is not there\./)
      mkdirSync(bench.workshop.path('away/in'), { recursive: true })
      await heard(/STATUS=Watching \S+\/in, \S+\/away\/in(?:\||$)/)
      daemon.child.kill('SIGHUP')
      await heard(/RELOADING=1 MONOTONIC_USEC=\d+\|READY=1/)
      writeFileSync(config, 'no configuration')
      await daemon.until(/The configuration was not reloaded/)
      await heard(/RELOADING=1.*RELOADING=1 MONOTONIC_USEC=\d+\|READY=1/)
      daemon.child.kill('SIGTERM')
      expect((await daemon.ended).exitCode).toBe(0)
      expect(systemd.said.at(-1)).toBe('STOPPING=1')
    })
  },
)

describe('without systemd', () => {
  it('tells nobody', async () => {
    const warned: string[] = []
    const logger = { ...silentLogger, warn: (_: object, message: string) => void warned.push(message) }
    const manager = new ServiceManager({ env: { PATH: '/nowhere' }, logger })
    await manager.ready('x')
    await manager.stopping()
    expect(warned).toEqual([])
  })

  it('warns once where systemd asks for word and its program is missing', async () => {
    const warned: string[] = []
    const logger = { ...silentLogger, warn: (_: object, message: string) => void warned.push(message) }
    const manager = new ServiceManager({ env: { PATH: '/nowhere', NOTIFY_SOCKET: '/nowhere/socket' }, logger })
    await manager.ready('x')
    await manager.stopping()
    expect(warned).toHaveLength(1)
  })
})
