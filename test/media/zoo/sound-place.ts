import { ffmpegOutput, ffprobeJson } from '../../helpers/media-factory.js'
import { lagProducts } from '../../helpers/sound/lag-products.js'

const RATE = 48_000
/** What is compared at a place, and how far around it the same is looked for. */
const WINDOW_SAMPLES = 0.1 * RATE
const REACH_SAMPLES = 0.05 * RATE
/** The sound is listened to from so long before the picture. */
const LEAD_SAMPLES = RATE

/**
 * By how many samples at 48 kHz the sound of one file lies later against its picture (its own start, where it has
 * none) than that of another: at the loudest place of the first, the middle and the last third. Heard with plain
 * ffmpeg and seen with plain ffprobe.
 */
export async function soundMoved(before: string, after: string): Promise<readonly number[]> {
  const [was, is] = [await heard(before), await heard(after)]
  const third = Math.floor((was.length - LEAD_SAMPLES) / 3)
  return [0, 1, 2].map((place) => {
    const from = LEAD_SAMPLES + place * third
    return lagOf(was, is, loudest(was, from, from + third - WINDOW_SAMPLES))
  })
}

/** One channel sum from {@link LEAD_SAMPLES} before the first picture, as the timestamps place it. */
async function heard(path: string): Promise<Float32Array> {
  const zero = Math.round((await firstPictureSec(path)) * RATE) - LEAD_SAMPLES
  const clock = `aresample=${RATE}:async=1:min_comp=0.0012:min_hard_comp=0.0012:first_pts=${zero}`
  const bytes = await ffmpegOutput('-copyts', '-i', path, '-map', '0:a:0', '-af', clock, '-ac', '1', '-f', 'f32le', '-')
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.length & ~3)))
}

async function firstPictureSec(path: string): Promise<number> {
  const { packets } = (await ffprobeJson(path, '-select_streams', 'V:0', '-show_entries', 'packet=pts_time')) as {
    packets?: readonly { readonly pts_time?: string }[]
  }
  const shown = (packets ?? []).flatMap(({ pts_time }) => (pts_time === undefined ? [] : [Number(pts_time)]))
  if (shown.length > 0) return Math.min(...shown)
  const { format } = (await ffprobeJson(path, '-show_format')) as { format: { readonly start_time?: string } }
  return Number(format.start_time ?? 0)
}

function loudest(sound: Float32Array, from: number, end: number): number {
  let best = { at: from, energy: -1 }
  for (let at = from; at < end; at += 480) {
    const energy = energyOf(sound.subarray(at, at + WINDOW_SAMPLES))
    if (energy > best.energy) best = { at, energy }
  }
  return best.at
}

/** NaN where nothing of the kind is to be heard around that place. */
function lagOf(was: Float32Array, is: Float32Array, at: number): number {
  const window = was.subarray(at, at + WINDOW_SAMPLES)
  const firstAt = at - REACH_SAMPLES
  const products = lagProducts({ window, sound: is, firstAt, lags: 2 * REACH_SAMPLES + 1 })
  const energy = energyOf(window)
  let covered = energyOf(is.subarray(firstAt, firstAt + WINDOW_SAMPLES))
  let best = { lag: Number.NaN, match: 0.5 }
  for (const [place, shared] of products.entries()) {
    const match = shared / Math.sqrt(energy * covered || 1)
    if (match > best.match) best = { lag: place - REACH_SAMPLES, match }
    covered += (is[firstAt + place + WINDOW_SAMPLES] ?? 0) ** 2 - (is[firstAt + place] ?? 0) ** 2
  }
  return best.lag
}

function energyOf(sound: Float32Array): number {
  return sound.reduce((sum, value) => sum + value * value, 0)
}
