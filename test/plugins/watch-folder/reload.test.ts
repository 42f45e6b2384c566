import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { runCliInProcess } from '../../helpers/command-in-process.js'
import { until } from '../../helpers/until.js'
import { watchBench } from './watch-bench.js'

describe('voxmux watch, while its configuration changes', () => {
  const bench = watchBench()

  const configure = (folders: readonly string[], name = 'voxmux.json') => {
    for (const folder of folders) mkdirSync(bench.file(folder), { recursive: true })
    const path = bench.workshop.path(name)
    writeFileSync(path, JSON.stringify({ watch: { folders: folders.map((folder) => ({ path: bench.file(folder) })) } }))
    return path
  }

  it('reads it again at a hang-up and whenever it is saved, keeps what it has if it is wrong, and watches a folder more', async () => {
    const config = configure(['one'])
    const daemon = bench.watchConfigured(config)
    await daemon.until(/"event":"watching"/)
    daemon.child.kill('SIGHUP')
    await daemon.until(/Reloaded the configuration/)
    expect(daemon.said()).not.toMatch(/Restart voxmux/)
    writeFileSync(config, '{"watch": {"folders": 7}}')
    await daemon.until(/The configuration was not reloaded/)
    const folders = [{ path: bench.file('one') }]
    writeFileSync(config, JSON.stringify({ concurrency: 3, watch: { folders, dashboard: { port: 0 } } }))
    await daemon.until(/Restart voxmux to apply the changes to: concurrency, watch\.dashboard/)

    // As editors save: a new file in the place of the old one.
    renameSync(configure(['one', 'two'], 'new.json'), config)
    await daemon.until(/"folder":"[^"]*\/two"[^\n]*"msg":"watching"/)
    // The one that was there goes on undisturbed.
    expect(daemon.said().match(/"msg":"watching"/g)).toHaveLength(2)
    for (const folder of ['one', 'two']) {
      writeFileSync(bench.file(`${folder}/bad.wav`), 'no sound')
      await daemon.until(
        new RegExp(`"status":"rejected".*/${folder}/bad\\.wav|/${folder}/bad\\.wav.*"status":"rejected"`),
      )
    }
  })

  it('ends the pause of an offline folder that the configuration no longer names', async () => {
    const { dir: cwd, env } = bench.workshop
    const notes = async () => (await runCliInProcess(['jobs', 'list'], { cwd, env })).stderr
    const config = configure(['one', 'two'])
    const daemon = bench.watchConfigured(config)
    await daemon.until(/"event":"watching"/)
    // A folder without jobs stands in no list of jobs.
    writeFileSync(bench.file('two/bad.wav'), 'no sound')
    await daemon.until(/"status":"rejected"/)
    renameSync(bench.file('two'), bench.workshop.path('away'))
    await daemon.until(/two is not there\. Its files wait/)
    expect(await notes()).toContain('two is paused: offline: ')
    renameSync(configure(['one'], 'new.json'), config)
    await daemon.until(/Reloaded the configuration/)
    expect(await notes()).not.toContain('paused')
  })

  describe.skipIf(process.platform !== 'linux')('in a terminal (Linux only)', () => {
    const pidFile = () => bench.workshop.path('pid')
    const startedBy = (leave: string) => {
      const command = `${leave} sh -c 'echo \\$\\$ >${pidFile()}; exec $*'`
      return bench.watchThrough(['sh', '-c', `exec script -qfec "${command}" /dev/null`, 'sh'])
    }
    const daemonPid = () => readFileSync(pidFile(), 'utf8').trim()

    it('ends when the terminal is closed, which is a hang-up too', async () => {
      const daemon = startedBy('exec')
      await daemon.until(/"event":"watching"/)
      const stat = `/proc/${daemonPid()}/stat`
      daemon.child.kill('SIGKILL')
      await until(() => !existsSync(stat) || / Z /.test(readFileSync(stat, 'utf8')))
    })

    it('goes on at a hang-up if it has left the terminal', async () => {
      const daemon = startedBy('exec setsid --wait')
      await daemon.until(/"event":"watching"/)
      process.kill(Number(daemonPid()), 'SIGHUP')
      await daemon.until(/Reloaded the configuration/)
      process.kill(Number(daemonPid()), 'SIGTERM')
      await daemon.ended
    })
  })
})
