/** How the new sound of a track differs in level from the old one. */
export interface LevelChange {
  /** dB to add to a gain: the loudness of the old sound less that of the new one. */
  readonly gainDb: number
  /** Peak of the new sound over that of the old one. */
  readonly peakRatio: number
}

/** Also the change if the old or the new sound is silent, because silence has no loudness. */
export const SAME_LEVEL: LevelChange = { gainDb: 0, peakRatio: 1 }

/** A tag whose text holds one number. */
interface NumberTag {
  readonly name: RegExp
  /** The number is its first group. */
  readonly text: RegExp
  readonly changed: (number: number, change: LevelChange) => number
}

/** ReplayGain 2.0. */
const NUMBER_TAGS: readonly NumberTag[] = [
  {
    name: /^replaygain_track_gain$/i,
    text: /^ ?([+-]?\d{1,2}\.\d+)(?: ?dB)?$/i,
    changed: (gain, { gainDb }) => gain + gainDb,
  },
  {
    name: /^replaygain_track_peak$/i,
    text: /^ ?(\d\.\d+)$/,
    changed: (peak, { peakRatio }) => peak * peakRatio,
  },
  {
    // RFC 7845, section 5.2.1: 1/256 dB in up to six characters. Fewer may have no room for the new number.
    name: /^r128_track_gain$/i,
    text: /^(?=.{6}$)([+-]?\d+)$/,
    changed: (gain, { gainDb }) => Math.max(-0x7fff, Math.min(0x7fff, Math.round(gain + 256 * gainDb))),
  },
]

/**
 * Apple's Sound Check, `iTunNORM`: ten numbers of 32 bits in hex. The first four are powers of the channels, the seventh
 * and the eighth their peaks. The others are unknown, and stay.
 */
const SOUND_CHECK = /^(?: [0-9A-F]{8}){10}$/i
const POWERS: ReadonlySet<number> = new Set([0, 1, 2, 3])
const PEAKS: ReadonlySet<number> = new Set([6, 7])

/** The text of a tag for sound of another level, as long as before; null for a tag that cannot be renewed so. */
export function renewedText(name: string, text: string, change: LevelChange): string | null {
  if (/^itunnorm$/i.test(name)) return SOUND_CHECK.test(text) ? renewedSoundCheck(text, change) : null
  const tag = NUMBER_TAGS.find((each) => each.name.test(name))
  const old = tag?.text.exec(text)?.[1]
  if (!tag || old === undefined) return null
  return text.replace(old, () => inWidthOf(old, tag.changed(Number(old), change)))
}

/** A number in as many characters as another one, whose decimals give way to a sign and to digits. */
function inWidthOf(old: string, value: number): string {
  const sign = value < 0 ? '-' : old.startsWith('+') ? '+' : ''
  if (!old.includes('.')) return sign + String(Math.abs(value)).padStart(old.length - sign.length, '0')
  for (let decimals = old.length; decimals >= 0; decimals--) {
    const text = sign + Math.abs(value).toFixed(decimals)
    if (text.length <= old.length) return text.padStart(old.length)
  }
  return old
}

function renewedSoundCheck(text: string, { gainDb, peakRatio }: LevelChange): string {
  const powerRatio = 10 ** (-gainDb / 10)
  const numbers = text.trim().split(' ')
  const renewed = numbers.map((hex, place) => {
    const ratio = POWERS.has(place) ? powerRatio : PEAKS.has(place) ? peakRatio : 1
    const value = Math.min(0xffff_ffff, Math.round(Number.parseInt(hex, 16) * ratio))
    return ` ${value.toString(16).toUpperCase().padStart(8, '0')}`
  })
  return renewed.join('')
}
