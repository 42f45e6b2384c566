import { childAt, childBoxes } from '../../probe/movie/box.js'
import { firstAtLeast } from '../first-at-least.js'
import type { SpliceableTrack } from '../splice/old-packets.js'
import { isStaleGroup } from './lay-out/track-facts.js'
import type { DonorTrack } from './read/donor-track.js'
import type { IsoFile } from './read/iso-file.js'
import { readPackets } from './read/old-packets.js'
import { isFragmented, type OldTrack, presentedSec } from './read/voice-runs.js'

/** Lists the packets of a track, so that some of them can be replaced; or the reason why they cannot. */
export function spliceableIso(file: IsoFile, voice: number, startSec: number): SpliceableTrack<DonorTrack> | string {
  const old = file.oldTracks.get(voice) as OldTrack
  const { track, shownTick } = old
  const packets = readPackets(old, file.fragments)
  const [entry] = track.entries
  if (!packets || !entry) return 'its tables do not list each packet'
  const shownSec = presentedSec(old, file.movie.timeScale) - startSec
  const rollGroups = [...childBoxes(track.stbl, 'sgpd'), ...childBoxes(track.stbl, 'sbgp')].filter(isStaleGroup)
  return {
    vorbis: null,
    frameHead: null,
    isIndexed: !isFragmented(old) || statesTimes(file, old),
    packets: {
      ...packets,
      headBytes: 0,
      startSec: (packet) => shownSec + (packets.tickOf(packet) - shownTick) / track.timeScale,
    },
    donorOf: ({ count, length, offsetOf }) => ({
      entry,
      timeScale: track.timeScale,
      primingTicks: shownTick,
      rollGroups: rollGroups.flatMap(({ bytes }) => bytes ?? []),
      isSplice: true,
      packets: {
        ...{ count, offsetOf, tickOf: packets.tickOf },
        sizes: { kind: 'each', bytes: Uint32Array.from({ length: count }, (_, packet) => length(packet)) },
        firstFrom: (tick) => firstAtLeast(count, packets.tickOf, tick),
      },
    }),
  }
}

/** Most seconds by which sound may play later than its fragment states; less than what is read before a segment. */
const MOST_DELAY_SEC = 1

/** True if fragments can be found by their times: each states its own, and the index does not delay them. */
function statesTimes({ structure, movie, fragments }: IsoFile, old: OldTrack): boolean {
  const firstOf = (wanted: string) => structure.boxes.findIndex(({ type }) => type === wanted)
  const delaySec = presentedSec(old, movie.timeScale) - old.shownTick / old.track.timeScale
  if (firstOf('moov') > firstOf('moof') || Math.abs(delaySec) >= MOST_DELAY_SEC) return false
  for (const traf of fragments.boxesOf(new Set([old.track.id]))) if (!childAt(traf, 'tfdt')) return false
  return true
}
