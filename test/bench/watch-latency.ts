/**
 * How soon `voxmux watch` begins a file: `npm run bench watch-latency [megabytes]` (default 100). From the last byte of
 * a copy to the start of its job, beyond the settle time: at most half a second.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { FaultServer } from '../helpers/fault-server.js'
import { WAVE_HEADER_BYTES, waveHeader } from '../helpers/sound/wave-header.js'
import { startWatch } from '../helpers/watch-cli.js'
import { median } from './measure.js'

const ROUNDS = 5
const SETTLE_SEC = 2
const LIMIT_SEC = 0.5
const CHUNK_BYTES = 1_000_000
const bytes = Number(process.argv[3] ?? 100) * 1_000_000

const folder = mkdtempSync(join(tmpdir(), 'voxmux-latency-'))
const server = await FaultServer.start({ states: [{ status: 'Succeeded', errorCode: 0, progress: 100 }] })
const input = join(folder, 'in')
mkdirSync(input)
const args = [input, '--settle', String(SETTLE_SEC), '--verify', 'fast']
const watch = await startWatch(args, { cwd: folder, env: { ...server.env, VOXMUX_STATE_DIR: join(folder, 'state') } })
try {
  let round = 0
  const latencySec = await median(ROUNDS, async () => {
    const began = watch.logged(({ msg }) => msg === 'job begins')
    const lastByteMs = await copyIn(join(input, `take-${round}.wav`), round++)
    const { time } = await began
    const sec = (Number(time) - lastByteMs) / 1000 - SETTLE_SEC
    process.stdout.write(`  round ${round}: ${sec.toFixed(2)} s after the settle time of ${SETTLE_SEC} s\n`)
    await watch.files(round)
    return sec
  })
  const verdict = latencySec <= LIMIT_SEC ? 'within' : 'OVER'
  process.stdout.write(
    `from the last byte of ${bytes / 1e6} MB to the start of the job: the settle time and ${latencySec.toFixed(2)} s, ` +
      `${verdict} ${LIMIT_SEC} s\n`,
  )
} finally {
  await watch.stop()
  await server.close()
  rmSync(folder, { recursive: true, force: true })
}

/** Writes a WAV of noise piece by piece, as a copy over a network does. @returns when the last byte was written */
async function copyIn(path: string, seed: number): Promise<number> {
  const file = await open(path, 'w')
  try {
    await file.write(waveHeader(2, 48_000, bytes - WAVE_HEADER_BYTES))
    for (let written = WAVE_HEADER_BYTES; written < bytes; written += CHUNK_BYTES) {
      await writeNoise(file, Math.min(CHUNK_BYTES, bytes - written), seed * 1000 + written)
      await delay(5)
    }
  } finally {
    await file.close()
  }
  return Date.now()
}

async function writeNoise(file: FileHandle, length: number, seed: number): Promise<void> {
  const noise = Buffer.alloc(length)
  let state = seed + 1
  for (let at = 0; at + 1 < length; at += 2) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    noise.writeInt16LE(state >> 19, at)
  }
  await file.write(noise)
}
