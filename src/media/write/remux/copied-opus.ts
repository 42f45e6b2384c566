import { join } from 'node:path'
import { z } from 'zod'
import { runFfmpeg } from '../../ffmpeg/ffmpeg.js'
import { ffprobe } from '../../ffmpeg/ffprobe.js'
import { fileUrl } from '../../ffmpeg/input-safety.js'
import { temporaryFolder } from '../../ffmpeg/temporary-folder.js'
import type { MediaInfo } from '../../media-info.js'
import { clockedInput } from '../../pcm/file-clock.js'
import type { MuxPlan, PlannedStream } from './mux-plan.js'

/** Times in Matroska are rounded to ms. Priming is longer. */
const LEAST_EARLY_MS = 3
/** A few packets, because the first one is rounded otherwise. */
const PACKETS = 3

const packetsSchema = z.object({ packets: z.array(z.object({ pts_time: z.coerce.number() })).min(1) })

/** True if a stream is Opus that is copied into Matroska. */
export function isCopiedOpus({ profile }: MuxPlan, { fate, input }: PlannedStream): boolean {
  return profile.priming === 'measured' && fate === 'copied' && input.codec === 'opus'
}

/**
 * Milliseconds by which Matroska would play copied Opus too early. ffmpeg 5 writes the codec delay that a stream states.
 * It does not move the packets by it. Opus of a transport stream states none. Measured with the first packets.
 */
export async function copiedOpusDelayMs(plan: MuxPlan, signal: AbortSignal | undefined): Promise<number> {
  const copied = plan.streams.find((stream) => isCopiedOpus(plan, stream))
  if (!copied) return 0
  const { media } = plan
  await using folder = await temporaryFolder('voxmux-opus-')
  const path = join(folder.path, 'packet.mkv')
  const first = ['-map', `0:${copied.input.index}`, '-frames:0', `${PACKETS}`, '-c', 'copy']
  const atOneSec = ['-avoid_negative_ts', 'disabled', '-output_ts_offset', (1 - media.startSec).toFixed(6)]
  await runFfmpeg(
    {
      inputs: [clockedInput(media)],
      outputs: [{ url: fileUrl(path), options: [...first, ...atOneSec, '-f', 'matroska'] }],
    },
    { signal, input: media.path },
  )
  const [before, after] = [
    await packetSecs(media.path, copied.input.index, media.readOptions, signal),
    await packetSecs(path, 0, [], signal),
  ]
  const last = Math.min(before.length, after.length) - 1
  const earlyMs = 1000 * (1 - media.startSec + (before[last] ?? 0) - (after[last] ?? 0))
  // Half a ms counts as one, as in the priming of an encoder.
  return earlyMs < LEAST_EARLY_MS ? 0 : Math.round(earlyMs + 0.01)
}

async function packetSecs(
  path: string,
  index: number,
  readOptions: MediaInfo['readOptions'],
  signal: AbortSignal | undefined,
): Promise<readonly number[]> {
  const show = ['-select_streams', `${index}`, '-show_entries', 'packet=pts_time', '-read_intervals', `%+#${PACKETS}`]
  const { packets } = await ffprobe(path, [...(readOptions ?? []), ...show], packetsSchema, { signal })
  return packets.map(({ pts_time: sec }) => sec)
}
