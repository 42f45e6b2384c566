import { childAt, childrenOf } from '../../probe/movie/box.js'
import { firstAtLeast } from '../first-at-least.js'
import type { SpliceableTrack } from '../splice/old-packets.js'
import { isStaleGroup } from './lay-out/track-facts.js'
import type { DonorTrack } from './read/donor-track.js'
import type { IsoFile } from './read/iso-file.js'
import { readPackets } from './read/old-packets.js'
import { isFragmented, type OldTrack, presentedSec } from './read/voice-runs.js'

/** Lists the packets of a track, so that some of them can be replaced; or the reason why they cannot. */
export function spliceableTrack(file: IsoFile, voice: number, startSec: number): SpliceableTrack<DonorTrack> | string {
  const old = file.oldTracks.get(voice) as OldTrack
  const { track, shownTick } = old
  const packets = readPackets(old)
  const [entry] = track.entries
  if (!packets || !entry) return 'its tables do not list each packet'
  const shownSec = presentedSec(old, file.movie.timeScale) - startSec
  const rollGroups = [...childrenOf(track.stbl, 'sgpd'), ...childrenOf(track.stbl, 'sbgp')].filter(isStaleGroup)
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
function statesTimes({ structure, movie }: IsoFile, old: OldTrack): boolean {
  const types = structure.boxes.map(({ type }) => type)
  const delaySec = presentedSec(old, movie.timeScale) - old.shownTick / old.track.timeScale
  return (
    types.indexOf('moov') < types.indexOf('moof') &&
    Math.abs(delaySec) < MOST_DELAY_SEC &&
    old.runs.inFragments.every(({ fragment }) => childAt(fragment.box, 'tfdt') !== undefined)
  )
}
