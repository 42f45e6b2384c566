import { z } from 'zod'
import { ffprobe } from '../ffmpeg/ffprobe.js'
import type { MediaInfo } from '../media-info.js'

/** The packets of the lead-in, whose frames are dropped, and one more. */
const SOME_PACKETS = 8

const framesSchema = z.object({ frames: z.array(z.object({ pts_time: z.coerce.number().optional() })) })

/**
 * Starts the clock of an M4A with HE-AAC at its first sound. The note `iTunSMPB` counts the lead-in before SBR
 * doubles its rate. ffmpeg drops the lead-in, but states half of it as the start. The rest would become silence.
 */
export async function behindLeadIn(media: MediaInfo): Promise<MediaInfo> {
  const [sound, other] = media.streams.filter((stream) => stream.kind !== 'video' || !stream.isCover)
  if (sound?.kind !== 'audio' || other || !isDoubled(sound.profile) || !sound.startSec) return media
  const packets = ['-select_streams', `${sound.index}`, '-read_intervals', `%+#${SOME_PACKETS}`]
  const [first] = (await ffprobe(media.path, [...packets, '-show_entries', 'frame=pts_time'], framesSchema)).frames
  const startSec = first?.pts_time ?? 0
  if (startSec <= sound.startSec) return media
  const streams = media.streams.map((stream) => (stream === sound ? { ...stream, startSec } : stream))
  return { ...media, startSec, streams }
}

function isDoubled(profile: string | null): boolean {
  return profile?.startsWith('HE-AAC') ?? false
}
