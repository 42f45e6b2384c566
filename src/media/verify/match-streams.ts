import type { MediaInfo, StreamInfo } from '../media-info.js'
import { writtenStreams } from '../write/remux/mux-command.js'
import type { MuxPlan } from '../write/remux/mux-plan.js'
import { isNewStream, type PlannedStream } from '../write/remux/plan-streams.js'

/**
 * Finds each written stream in the finished file. Muxers move covers and attachments to the end and add tracks of
 * their own (chapters, timecode). Streams of one kind keep their order, but an index can differ from the mapped one.
 */
export function matchStreams(plan: MuxPlan, output: MediaInfo): ReadonlyMap<PlannedStream, StreamInfo> {
  const matched = new Map<PlannedStream, StreamInfo>()
  const taken = new Set<StreamInfo>()
  for (const stream of writtenStreams(plan)) {
    const free = output.streams.filter((made) => !taken.has(made) && isSameKind(made, stream.input))
    const made = free.find(({ codec }) => codec === plannedCodec(stream)) ?? free[0]
    if (!made) continue
    taken.add(made)
    matched.set(stream, made)
  }
  return matched
}

/** Codec of a stream in the output, as ffprobe names it. */
export function plannedCodec(stream: PlannedStream): string | null {
  if (isNewStream(stream)) return stream.encoding.codec
  return stream.fate === 'converted' ? stream.codec : stream.input.codec
}

function isSameKind(made: StreamInfo, input: StreamInfo): boolean {
  if (made.kind === 'video' && input.kind === 'video') return made.isCover === input.isCover
  return made.kind === input.kind
}
