import { findFfmpeg } from './binaries.js'
import { startChild } from './child-process.js'

/** Filters that every cut, splice or verification needs. */
const FILTERS = ['aformat', 'apad', 'aresample', 'asetpts', 'asplit', 'atrim', 'channelmap', 'pan', 'volume']
/** Encoders of the most common codecs. A build may lack one and still be complete. */
const ENCODERS = ['aac', 'ac3', 'eac3', 'flac', 'libmp3lame', 'libopus', 'libvorbis', 'pcm_s16le', 'pcm_s24le']
const TIMEOUT_MS = 15_000

/** Lists the parts that the ffmpeg in use was built without: filters for every file, and encoders for audio of one kind. */
export async function lackingParts() {
  const [filters, encoders] = await Promise.all([namesOf('-filters'), namesOf('-encoders')])
  return {
    filters: FILTERS.filter((name) => !filters.has(name)),
    encoders: ENCODERS.filter((name) => !encoders.has(name)),
  }
}

/** The second word of each line. The first contains marks. */
async function namesOf(list: '-filters' | '-encoders'): Promise<ReadonlySet<string>> {
  const text = await printedBy([list])
  return new Set(text.split('\n').flatMap((line) => line.trim().split(/\s+/)[1] ?? []))
}

/** The text that the ffmpeg in use prints about itself. */
export async function printedBy(args: readonly string[]): Promise<string> {
  const { path } = await findFfmpeg()
  const child = startChild({
    path,
    args: ['-hide_banner', '-loglevel', 'error', ...args],
    stdin: 'ignore',
    stdout: 'pipe',
    timeoutMs: TIMEOUT_MS,
  })
  let text = ''
  child.process.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  await child.ended
  return text
}
