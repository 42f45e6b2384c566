import { runFfmpeg, type SideReading } from '../ffmpeg/ffmpeg.js'
import { clockedInput } from '../pcm/file-clock.js'
import type { MuxResult } from './remux/mux.js'
import { type MuxPlan, splicedStreams } from './remux/mux-plan.js'
import { PacketTimes, timesOutput } from './remux/packet-times.js'
import { HashLines, hashOutput } from './remux/stream-hash.js'

/** Hashes and times of the kept packets of an input. Verification compares the output with them. */
export type PacketFacts = Pick<MuxResult, 'packetHashes' | 'packetTimes'>

/** Plans a reading that finds the {@link PacketFacts} that a byte writer keeps, complete when ffmpeg has ended. Null if ffmpeg writes the output and hashes them itself. */
export function packetReading(plan: MuxPlan): (SideReading & { facts(): PacketFacts }) | null {
  if (plan.writing.kind === 'remux') return null
  const hashes = new HashLines()
  const parts = splicedStreams(plan)
  const times = new PacketTimes(parts)
  const indexOf = ({ input }: MuxPlan['streams'][number]) => input.index
  return {
    outputs: [...hashOutput(plan, indexOf), ...timesOutput(plan, indexOf, parts)],
    takeStderrLine: (line) => hashes.take(line),
    onFactLine: (line) => times.take(line),
    facts: () => ({ packetHashes: hashes.byInputIndex(plan), packetTimes: times.byInputIndex(plan) }),
  }
}

/** Reads the input for nothing but its packets. */
export async function readPacketFacts(plan: MuxPlan, signal: AbortSignal | undefined): Promise<PacketFacts> {
  const reading = packetReading(plan)
  if (!reading) return { packetHashes: new Map(), packetTimes: new Map() }
  const { media } = plan
  const { outputs, takeStderrLine, onFactLine } = reading
  if (outputs.length > 0) {
    await runFfmpeg(
      { inputs: [clockedInput(media)], outputs },
      { signal, input: media.path, takeStderrLine, onFactLine },
    )
  }
  return reading.facts()
}
