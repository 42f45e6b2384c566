import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ffmpegOutput, ffprobeJson } from '../../helpers/media-factory.js'

/** Files of a package whose bytes differ from those of another, or that only one of them has; sorted. */
export function differingFiles(before: string, after: string): readonly string[] {
  const [old, fresh] = [filesOf(before), filesOf(after)]
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .filter((path) => !fresh.get(path)?.equals(old.get(path) ?? Buffer.alloc(0)))
    .sort()
}

/** Presentation times of the frames of a rendition or of a segment, as ffmpeg's own readers hand them out, in seconds. */
export async function frameTimes(playlist: string): Promise<readonly string[]> {
  const whole = playlist.endsWith('.m3u8') ? ['-allowed_extensions', 'ALL'] : []
  const show = [...whole, '-show_entries', 'packet=pts_time', '-select_streams', 'a']
  const { packets } = (await ffprobeJson(playlist, ...show)) as { packets: { pts_time: string }[] }
  return packets.map((packet) => packet.pts_time)
}

/** The sound of a rendition, its first channel. */
export async function soundOf(playlist: string): Promise<Float32Array> {
  const pcm = await ffmpegOutput(
    ...['-allowed_extensions', 'ALL', '-i', playlist, '-map', '0:a', '-af', 'pan=mono|c0=c0', '-f', 'f32le', 'pipe:1'],
  )
  return new Float32Array(pcm.buffer, pcm.byteOffset, pcm.length / 4)
}

/** By how many samples one sound is later than another (up to 300 either way), and how loud beside it. */
export function compareSounds(before: Float32Array, after: Float32Array): { lagSamples: number; gain: number } {
  const [from, to] = [48_000, Math.min(before.length, after.length) - 2000]
  let [lagSamples, best] = [Number.NaN, -Infinity]
  for (let lag = -300; lag <= 300; lag++) {
    let sum = 0
    for (let at = from; at < to; at += 7) sum += (before[at] as number) * (after[at + lag] as number)
    if (sum > best) [lagSamples, best] = [lag, sum]
  }
  const power = (sound: Float32Array) => sound.subarray(from, to).reduce((sum, value) => sum + value * value, 0)
  return { lagSamples, gain: Math.sqrt(power(after) / power(before)) }
}

/** Lines of a playlist without those that say where bytes lie. */
export function linesWithoutBytes(playlist: string): readonly string[] {
  return readFileSync(playlist, 'utf8')
    .split('\n')
    .filter((line) => !line.includes('BYTERANGE'))
}

function filesOf(master: string): ReadonlyMap<string, Buffer> {
  const root = dirname(master)
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(root, name)).isFile(),
  )
  return new Map(names.map((name) => [name, readFileSync(join(root, name))]))
}
