import { type Box, bodyOf, childAt, childBoxes } from '../../../probe/movie/box.js'

/** The part of the audio that iTunes presents, in samples. */
export interface GaplessInfo {
  /** Priming of the encoder. */
  readonly leadTicks: number
  /** Length without priming and rest. */
  readonly ticks: number
}

/** iTunes' form after a first number: priming and rest in 8 hex digits each, length in 16. */
export const GAPLESS = /^( ?[0-9A-F]{8} )([0-9A-F]{8}) ([0-9A-F]{8}) ([0-9A-F]{16})/i

/** The free-form items of iTunes' tag list. */
export function freeItems(moov: Box): readonly Box[] {
  return childBoxes(childAt(moov, 'udta', 'meta', 'ilst'), '----')
}

/** Name of a free-form item; empty for other boxes. */
export function nameOf(item: Box): string {
  return bodyOf(childAt(item, 'name')).toString('utf8', 4)
}

/** Text of a free-form item. */
export function textOf(data: Box | undefined): string {
  return bodyOf(data).toString('latin1', 8)
}

/** Reads `iTunSMPB`; null without it. */
export function readGaplessInfo(moov: Box): GaplessInfo | null {
  const item = freeItems(moov).find((candidate) => nameOf(candidate) === 'iTunSMPB')
  const [, , lead, , length] = GAPLESS.exec(textOf(childAt(item, 'data'))) ?? []
  if (lead === undefined || length === undefined) return null
  return { leadTicks: Number.parseInt(lead, 16), ticks: Number.parseInt(length, 16) }
}
