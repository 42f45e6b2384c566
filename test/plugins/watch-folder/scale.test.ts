import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { peakMemoryMb } from '../../bench/measure.js'
import { FaultServer } from '../../helpers/fault-server.js'
import { tinyWave } from '../../helpers/sound/tiny-wave.js'
import { startWatch } from '../../helpers/watch-cli.js'

const SOAK = Boolean(process.env.VOXMUX_SOAK)
const FILES = SOAK ? 20_000 : 60
/** So many are worked off to their end: the rest would only take hours of ffmpeg. */
const PUBLISHED = SOAK ? 200 : 3
const IN_WORK = 4
const MOST_MEMORY_MB = 300
const MOST_DELAY_SEC = 0.1
/** Questions about a file follow each other no faster than this (the client's default). */
const POLL_MS = 250

it(
  `${FILES} files at once: found, queued, and worked on in bounded memory, with few questions to the service`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'voxmux-scale-'))
    const server = await FaultServer.start()
    const input = join(folder, 'in')
    mkdirSync(input)
    const args = [input, '--settle', '1', '--port', '0', '--verify', 'fast', '--concurrency', `${IN_WORK}`]
    const watch = await startWatch(args, {
      cwd: folder,
      env: { ...server.env, VOXMUX_STATE_DIR: join(folder, 'state') },
    })
    const peak = peakMemoryMb(watch.child)
    try {
      for (let n = 0; n < FILES; n++) writeFileSync(join(input, `clip-${n}.wav`), tinyWave(n))
      const droppedMs = Date.now()
      await watch.files(1)
      const firstSec = (Date.now() - droppedMs) / 1000
      for (const file of await watch.files(PUBLISHED)) expect(file).toMatchObject({ status: 'done', error: null })
      // The first scrape: its delay is that of all the time.
      const delaySec = sum(await metricsOf(watch.url), 'nodejs_eventloop_lag_p99_seconds')
      await everyFileIsKnown(watch.url)
      const polls = sum(await metricsOf(watch.url), 'voxmux_poll_requests_total')
      const elapsedMs = Date.now() - droppedMs
      // All files in flight share a question a round, and every file may begin one.
      expect(polls).toBeGreaterThan(0)
      expect(polls).toBeLessThanOrEqual(Math.ceil(IN_WORK / 100) * (elapsedMs / POLL_MS) + server.files.length)
      expect(await watch.stop()).toBe(0)
      const memoryMb = await peak
      process.stdout.write(
        `${FILES} files at once: first published after ${firstSec.toFixed(1)} s, peak memory ${memoryMb} MB, ` +
          `event loop p99 ${Math.round(1000 * delaySec)} ms, ${polls} questions for ${server.files.length} files\n`,
      )
      expect(memoryMb).toBeLessThan(MOST_MEMORY_MB)
      // Of a machine that runs other tests beside it, the delay says nothing.
      if (SOAK) expect(delaySec).toBeLessThan(MOST_DELAY_SEC)
    } finally {
      watch.child.kill('SIGKILL')
      await server.close()
      rmSync(folder, { recursive: true, force: true })
    }
  },
  SOAK ? 3_600_000 : 300_000,
)

async function metricsOf(url: string): Promise<string> {
  return (await fetch(`${url}metrics`)).text()
}

/** Of a metric over all its labels. */
function sum(metrics: string, name: string): number {
  const lines = metrics.split('\n').filter((line) => line.startsWith(name))
  return lines.reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0)
}

/** Nothing is lost on the way: every file is arriving, waiting, in work or done. */
async function everyFileIsKnown(url: string): Promise<void> {
  for (;;) {
    const metrics = await metricsOf(url)
    if (sum(metrics, 'voxmux_arriving_files') + sum(metrics, 'voxmux_jobs{') >= FILES) return
    await delay(500)
  }
}
