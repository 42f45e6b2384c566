/**
 * What many script steps at once cost: `npm run bench many-steps [jobs]` (default 200, beside a tenth and half of them).
 *
 * One process says `scriptStep` so many times at once; the service answers at once, but lets nothing end before every
 * file (at most {@link MOST_AT_THE_SERVICE}) was started, so that all of them wait together. Counted: token requests, and status requests in a round, which
 * is once for every file that waits.
 *
 * Memory is told twice. While all wait, it is what a step holds that waits for its turn: flat where ten times the jobs
 * take at most a quarter more. At its peak, four of them are cut or muxed, and Node leaves up to some 64 MB of buffers
 * uncollected, however many jobs there are: a run of a few seconds ends before. So the peak is compared with half of
 * the jobs too. With 400: 199 MB, beside 156 MB for 40 (1.28 x) and 211 MB for 200 (0.94 x).
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FaultServer } from '../helpers/fault-server.js'
import { secondOfSpeech } from '../helpers/sound/second-of-speech.js'
import { memoryMb, peakMemoryMb, timedSec } from './measure.js'

/** The package finds itself by its name from here: what runs is what is built. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Taken while all wait, a tenth of a second apart: what was thrown away on the way there is no matter of waiting. */
const LOOKS = 40
/** More of one process are not started before others have ended. */
const MOST_AT_THE_SERVICE = 200
const PROGRAM = `
  import { scriptStep } from 'voxmux/step'
  const [cwd, jobs] = [process.argv[1], Number(process.argv[2])]
  const steps = Array.from({ length: jobs }, (_, index) =>
    scriptStep({ input: index + '.wav', output: 'out/' + index + '.wav' }, { cwd, settings: { verify: 'fast' } }))
  const statuses = new Set((await Promise.all(steps)).map(({ status }) => status))
  if (statuses.size !== 1 || !statuses.has('done')) throw new Error([...statuses].join())`

const jobs = Number(process.argv[3] ?? 200)
const few = await measure(Math.ceil(jobs / 10))
const half = await measure(Math.ceil(jobs / 2))
const many = await measure(jobs)
say(`${jobs} steps at once: ${many.tokens} token request, ${many.sec.toFixed(0)} s`)
if (jobs <= MOST_AT_THE_SERVICE) {
  say(`status requests a round: ${many.requestsARound.toFixed(1)}, at most ${Math.ceil(jobs / 100) + 1} are wanted`)
}
for (const name of ['waitingMb', 'peakMb'] as const) {
  const beside = [few, half].map((run) => `${run[name]} MB for ${run.jobs} (${(many[name] / run[name]).toFixed(2)} x)`)
  say(
    `memory ${name === 'peakMb' ? 'at its peak' : 'while all wait'}: ${many[name]} MB, beside ${beside.join(' and ')}`,
  )
}
say('1.25 x is flat')

async function measure(count: number) {
  const dir = mkdtempSync(join(tmpdir(), 'voxmux-steps-'))
  const server = await FaultServer.start()
  try {
    for (let index = 0; index < count; index++) writeFileSync(join(dir, `${index}.wav`), secondOfSpeech(index))
    const isAllStarted = () => server.calls.startProcess >= Math.min(count, MOST_AT_THE_SERVICE)
    let isReleased = false
    server.behaviour.states = () => [{ status: isReleased ? 'Succeeded' : 'InProgress', errorCode: 0, progress: 50 }]
    let [peakMb, waitingMb] = [0, 0]
    const sec = await timedSec(async () => {
      const env = { PATH: '/usr/bin:/bin', ...server.env, VOXMUX_STATE_DIR: join(dir, 'state') }
      const args = ['--input-type=module', '-e', PROGRAM, dir, String(count)]
      const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'] })
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
      const looks: number[] = []
      const waiting = setInterval(() => {
        if (!isAllStarted() || looks.push(memoryMb(child)) < LOOKS) return
        clearInterval(waiting)
        waitingMb = Math.min(...looks)
        isReleased = true
      }, 100)
      peakMb = await peakMemoryMb(child)
      clearInterval(waiting)
      if ((await ended) !== 0) throw new Error('the steps failed')
    })
    return {
      jobs: count,
      sec,
      peakMb,
      waitingMb,
      tokens: server.calls.token,
      requestsARound: requestsARound(server, count),
    }
  } finally {
    await server.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Requests from the last start on, when every file waits, for as often as each file was asked for then. */
function requestsARound(server: FaultServer, count: number): number {
  const lastStart = Math.max(...server.requestsOf('startProcess').map(({ atMs }) => atMs))
  const later = server.requestsOf('getFilesStatus').filter(({ atMs }) => atMs >= lastStart)
  const asked = later.reduce((sum, { body }) => sum + (body as { fileIds: string[] }).fileIds.length, 0)
  return later.length / (asked / count)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
