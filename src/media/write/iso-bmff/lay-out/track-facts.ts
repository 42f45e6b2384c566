import { type Box, bodyOf } from '../../../probe/movie/box.js'

/** Boxes of `stbl` and `traf` with a row for each old packet. */
export const PACKET_FACTS: ReadonlySet<string> = new Set([
  ...['ctts', 'cslg', 'stss', 'stps', 'stsh', 'sdtp', 'stdp', 'padb', 'subs'],
])

/** Groups that state how many packets a decoder needs before its output is right. */
const ROLL_GROUPS: ReadonlySet<string> = new Set(['roll', 'prol'])

/** True if `sgpd` or `sbgp` groups packets by their pre-roll. */
export function isStaleGroup(box: Box): boolean {
  return (box.type === 'sgpd' || box.type === 'sbgp') && ROLL_GROUPS.has(groupingOf(box))
}

/** Grouping type of `sgpd` and `sbgp`. */
function groupingOf(box: Box): string {
  return bodyOf(box).toString('latin1', 4, 8)
}
