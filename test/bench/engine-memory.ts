/** `npm run bench engine-memory [short minutes] [long minutes]`: peak memory of a whole file's work, short against long. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { processFile } from '../../src/service/engine/process-file.js'
import { VoicePool } from '../../src/voice/index.js'

const SPEECH = fileURLToPath(new URL('../../fixtures/speech.wav', import.meta.url))
const CHILD = 'VOXMUX_BENCH_MEMORY_FILE'

/** Works on the file and says the most memory that this process had, in MB. */
async function work(input: string): Promise<void> {
  await using pool = new VoicePool({ workers: 2 })
  await processFile({ input, output: `${input}.out`, pool })
  process.stdout.write(String(Math.round(process.resourceUsage().maxRSS / 1024)))
}

/** Each in a process of its own: a high-water mark never falls. */
function measure(minutes: number): number {
  const folder = mkdtempSync(join(tmpdir(), 'voxmux-memory-'))
  try {
    const input = join(folder, 'long.wav')
    const loop = ['-stream_loop', '-1', '-i', SPEECH, '-t', String(minutes * 60), '-ar', '16000', '-ac', '1']
    execFileSync('ffmpeg', ['-nostdin', '-v', 'error', ...loop, input])
    const script = ['--import', 'tsx', fileURLToPath(import.meta.url)]
    return Number(execFileSync(process.execPath, script, { env: { ...process.env, [CHILD]: input } }))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const file = process.env[CHILD]
if (file) await work(file)
else {
  const [short = 10, long = 60] = process.argv.slice(3).map(Number)
  const [shortMb, longMb] = [measure(short), measure(long)]
  process.stdout.write(
    `Peak memory of the engine: ${shortMb} MB for ${short} minutes, ${longMb} MB for ${long} minutes of 16 kHz mono\n` +
      `(${(longMb / shortMb).toFixed(2)} times as much for ${(long / short).toFixed(1)} times the sound)\n`,
  )
}
