import type { MuxPlan } from './mux-plan.js'

/** Range of packet ids that the mpegts muxer accepts. */
const LEAST_PID = 16
const MOST_PID = 0x1ffe
/** Highest packet id that it accepts for a program table. */
const MOST_TABLE_PID = 0x1ef0
/** The packet id of the program table in .m2ts, which Blu-ray prescribes. */
const M2TS_TABLE_PID = 0x100

/**
 * Keeps the numbers and names of a transport stream's only program: packet ids, program number, service and provider.
 * Without them ffmpeg assigns new numbers and names the service "Service01" by "FFmpeg".
 */
export function transportIdentity({ media, container, profile, streams }: MuxPlan): readonly string[] {
  const [program, ...others] = media.programs ?? []
  if (profile.muxer !== 'mpegts' || !program || others.length > 0) return []
  const { id, pmtPid, name, provider } = program
  const most = Math.max(LEAST_PID, ...streams.map(({ input }) => input.id ?? 0))
  const taken = new Set<number>(container === 'm2ts' ? [M2TS_TABLE_PID] : [])
  const isTablePid = pmtPid !== null && pmtPid >= LEAST_PID && pmtPid <= MOST_TABLE_PID
  return [
    ...(id !== null && id > 0 ? ['-mpegts_service_id', String(id)] : []),
    ...(isTablePid ? ['-mpegts_pmt_start_pid', String(pmtPid)] : []),
    ...streams.flatMap(({ outputIndex, input }) => {
      const own = input.id ?? 0
      if (outputIndex === null || own < LEAST_PID) return []
      // A track beside its new voice is a stream of its own, and none may have the id of the table.
      const pid = taken.has(own) ? most + 1 + taken.size : own
      taken.add(pid)
      return pid > MOST_PID ? [] : ['-streamid', `${outputIndex}:${pid}`]
    }),
    // A space, because ffmpeg replaces an empty name by its own.
    ...['-metadata', `service_name=${name ?? ' '}`, '-metadata', `service_provider=${provider ?? ' '}`],
  ]
}
