import { type Box, bodyOf, makeFullBox } from '../../../probe/movie/box.js'

/** Boxes of `stbl` and `traf` with a row for each old packet. */
const PACKET_FACTS: ReadonlySet<string> = new Set([
  ...['ctts', 'cslg', 'stss', 'stps', 'stsh', 'sdtp', 'stdp', 'padb', 'subs'],
])

/** True if a box of `stbl` or `traf` has a row for each old packet. */
export function isPacketFact(box: Box): boolean {
  return PACKET_FACTS.has(box.type) || isKeyFact(box)
}

const KEY_BOXES: ReadonlySet<string> = new Set(['senc', 'saiz', 'saio'])
/** The `uuid` of PIFF that became `senc`. */
const PIFF_ENCRYPTION = 'a2394f525a9b4f14a2446c427c648df4'

/** True if a box states the encryption of each old packet (ISO/IEC 23001-7). Decrypting programs leave it. */
export function isKeyFact(box: Box): boolean {
  const isKeyGroup = (box.type === 'sgpd' || box.type === 'sbgp') && groupingOf(box) === 'seig'
  return KEY_BOXES.has(box.type) || box.extendedType === PIFF_ENCRYPTION || isKeyGroup
}

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

/** One group for all packets, the first of the old ones. */
export function makeGroup(sbgp: Box, packets: number): readonly Buffer[] {
  const body = bodyOf(sbgp)
  const rowsAt = body[0] === 1 ? 16 : 12
  if (body.length < rowsAt + 8 || packets === 0) return []
  const fields = Buffer.from(body.subarray(4, rowsAt + 8))
  fields.writeUInt32BE(1, rowsAt - 8)
  fields.writeUInt32BE(packets, rowsAt - 4)
  return [makeFullBox('sbgp', body[0] === 1 ? 1 : 0, 0, fields)]
}
