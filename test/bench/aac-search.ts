/**
 * `npm run bench aac-search`: the two searches of ffmpeg's AAC encoder over recorded speech, clean and in noise. The noise
 * over its mask (the mean, and the worst frame of twenty; less is better), and processor time as a ratio.
 */
import { writeFile } from 'node:fs/promises'
import { ffmpeg, ffmpegOutput, type TestFolder, testFolder } from '../helpers/media-factory.js'
import { endedChildrenSec } from './processor-use.js'
import { joined } from './voice-quality/joined.js'
import { noiseToMask } from './voice-quality/noise-to-mask.js'
import { NO_SPEECH, readSpeechPairs } from './voice-quality/speech-pairs.js'

const SEARCHES = ['twoloop', 'fast'] as const
const KBITS = [32, 48, 64, 96, 128]
const SAMPLE_RATE = 48_000
/** The speech is repeated to measure time, so that starting ffmpeg hardly counts. */
const REPEATS = 20

if (NO_SPEECH) {
  process.stdout.write(`Not measured: ${NO_SPEECH}.\n`)
} else {
  const folder = await testFolder()
  await compareSearches(folder).finally(() => folder.remove())
}

async function compareSearches(folder: TestFolder): Promise<void> {
  const pairs = (await readSpeechPairs()).filter(({ sampleRate }) => sampleRate === SAMPLE_RATE)
  process.stdout.write(
    '| speech | kbit/s a channel | twoloop: mean / worst dB | fast: mean / worst dB |\n|---|---|---|---|\n',
  )
  for (const kind of ['clean', 'noisy'] as const) {
    const sound = joined(pairs.map((pair) => pair[kind]))
    await writeFile(folder.file('sound'), sound)
    for (const kbits of KBITS) {
      const cells: string[] = []
      for (const search of SEARCHES) {
        await encode(folder, search, kbits)
        const bytes = await ffmpegOutput('-i', folder.file('coded.m4a'), '-f', 'f32le', '-')
        const coded = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
        const { meanDb, worstDb } = noiseToMask(sound, coded, SAMPLE_RATE)
        cells.push(`${meanDb.toFixed(1)} / ${worstDb.toFixed(1)}`)
      }
      process.stdout.write(`| ${[kind, kbits, ...cells].join(' | ')} |\n`)
    }
  }
  const [speech] = pairs
  await writeFile(
    folder.file('sound'),
    joined(Array.from({ length: REPEATS }, () => speech?.noisy ?? new Float32Array())),
  )
  const spent: number[] = []
  for (const search of SEARCHES) {
    const before = endedChildrenSec()
    await encode(folder, search, 64)
    spent.push(endedChildrenSec() - before)
  }
  const [twoloop = Number.NaN, fast = Number.NaN] = spent
  process.stdout.write(`\nProcessor time of fast over twoloop: ${(fast / twoloop).toFixed(2)}\n`)
}

function encode(folder: TestFolder, search: string, kbits: number): Promise<void> {
  const raw = ['-f', 'f32le', '-ar', String(SAMPLE_RATE), '-ac', '1', '-i', folder.file('sound')]
  return ffmpeg(...raw, '-c:a', 'aac', '-aac_coder', search, '-b:a', `${kbits}k`, folder.file('coded.m4a'))
}
