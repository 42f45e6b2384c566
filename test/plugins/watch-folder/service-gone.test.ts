import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { processorSec } from '../../bench/measure.js'
import { fixture } from '../../helpers/job-bench.js'
import { ffmpeg } from '../../helpers/media-factory.js'
import { ServiceProcess } from '../../helpers/service-process.js'
import { until } from '../../helpers/until.js'
import { type RunningWatch, startWatch } from '../../helpers/watch-cli.js'
import { filesBelow } from './watch-bench.js'

const SOAK = Boolean(process.env.VOXMUX_SOAK)
/** How long nobody listens at the service's address: an hour, or what is asked for. */
const GONE_SEC = Number(process.env.VOXMUX_OUTAGE_SEC ?? (SOAK ? 3600 : 2))
/** So much of one processor the daemon may take while it can do nothing; a short outage is all beginnings. */
const MOST_LOAD = 0.02
/**
 * Requests meanwhile: the tries of each file, ever further apart, with the repeats within each; one question for all
 * that are worked on, for five minutes of every try; and the questions whether it is back.
 */
const MOST_REQUESTS_PER_SEC = 1
/** `speech.wav`. */
const SPEECH_SEC = 3
/** Long enough to be caught at its upload and while it is worked on. */
const LONG_SEC = SOAK ? 600 : 10
/** Dropped at even distances while it is gone. */
const MEANWHILE = SOAK ? ['at once.wav', 'after a third.wav', 'at last.wav'] : ['meanwhile.wav']
const LIMIT_MS = (GONE_SEC + 1800) * 1000

it(`takes a service that is gone for ${GONE_SEC} s before, amid and after its work: each file once, each paid once`, {
  timeout: LIMIT_MS,
}, async ({ skip }) => {
  // In short it is gone in worker-patience.test.ts, and folders in outages.test.ts.
  if (!SOAK && !process.env.VOXMUX_OUTAGE_SEC) skip('only in the soak')
  const folder = mkdtempSync(join(tmpdir(), 'voxmux-gone-'))
  const input = join(folder, 'in')
  const out = join(input, 'out')
  mkdirSync(input)
  const service = await ServiceProcess.start(folder)
  const daemon = await startWatch([input, '--settle', '0.5', '--scan', '1', '--port', '0', '--concurrency', '8'], {
    cwd: folder,
    env: { ...service.env, VOXMUX_STATE_DIR: join(folder, 'state') },
  })
  const dropped = new Map<string, number>()
  const drop = async (name: string, sec: number) => {
    const made = join(folder, name)
    // Each a voice of its own: the same would be paid for once.
    const own = `volume=${-dropped.size / 2}dB`
    await ffmpeg('-stream_loop', '-1', '-i', fixture('speech.wav'), '-t', String(sec), '-af', own, made)
    dropped.set(name, sec)
    renameSync(made, join(input, name))
  }
  const published = (name: string) => until(() => existsSync(join(out, `${name}.voxmux.json`)))
  try {
    const creditsSec = 100_000
    await service.setCredits(creditsSec)
    await drop('done before.wav', SPEECH_SEC)
    await published('done before.wav')

    const isWorkedOn = daemon.logged(({ stage, msg }) => stage === 'upload' && msg === 'stage done')
    await drop('worked on.wav', LONG_SEC)
    await isWorkedOn
    await drop('on its way.wav', LONG_SEC)
    await uploadBegins(service)
    await service.kill()
    expect(existsSync(join(out, 'worked on.wav'))).toBe(false)

    const spent = await spending(daemon)
    for (const name of MEANWHILE) {
      await drop(name, SPEECH_SEC)
      await sleep((1000 * GONE_SEC) / MEANWHILE.length)
    }
    const { cpuSec, requests } = await spent()
    expect(filesBelow(out)).toEqual(['done before.wav', 'done before.wav.voxmux.json'])
    await service.start()
    const backMs = Date.now()
    for (const name of dropped.keys()) await published(name)

    const names = [...dropped.keys()]
    process.stdout.write(
      `service gone for ${GONE_SEC} s: ${names.length} files published once, all ${Math.round((Date.now() - backMs) / 1000)} s ` +
        `after it was back; meanwhile ${cpuSec.toFixed(1)} s of processor, ${requests} requests\n`,
    )
    expect(await daemon.stop()).toBe(0)
    expect(filesBelow(out)).toEqual(names.flatMap((name) => [name, `${name}.voxmux.json`]).sort())
    expect(filesBelow(join(input, 'failed'))).toEqual([])
    const paidSec = creditsSec - (await service.credits())
    expect(paidSec).toBeCloseTo(
      [...dropped.values()].reduce((total, sec) => total + sec, 0),
      1,
    )
    if (SOAK) {
      expect(cpuSec / GONE_SEC).toBeLessThan(MOST_LOAD)
      expect(requests / GONE_SEC).toBeLessThan(MOST_REQUESTS_PER_SEC)
    }
  } finally {
    daemon.child.kill('SIGKILL')
    await service.kill()
    rmSync(folder, { recursive: true, force: true })
  }
})

/** Ends while the service has a part of a file on its disk, and not yet all. */
async function uploadBegins({ data }: ServiceProcess): Promise<void> {
  await until(() =>
    readdirSync(data, { recursive: true, encoding: 'utf8' }).some((name) => {
      if (!name.includes('.part-')) return false
      return (statSync(join(data, name), { throwIfNoEntry: false })?.size ?? 0) > 0
    }),
  )
}

/** What the daemon spends from now on, of its processor and in requests to the service. */
async function spending({ child, url }: RunningWatch): Promise<() => Promise<{ cpuSec: number; requests: number }>> {
  const look = async () => {
    const metrics = await (await fetch(`${url}metrics`)).text()
    const counted = [...metrics.matchAll(/^voxmux_service_requests_total\{.*\} (\d+)$/gm)]
    return {
      cpuSec: processorSec(child),
      requests: counted.reduce((total, [, count]) => total + Number(count), 0),
    }
  }
  const before = await look()
  return async () => {
    const after = await look()
    return { cpuSec: after.cpuSec - before.cpuSec, requests: after.requests - before.requests }
  }
}
