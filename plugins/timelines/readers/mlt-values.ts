import { isAbsolute, join } from 'node:path'
import { add, decimal, divide, floor, multiply, ONE, type Rational, rational } from '../time/rational.js'
import { child, childElements, type XmlElement } from './xml-document.js'

/** A property of a producer; undefined if it has none. */
export function property(element: XmlElement, name: string): string | undefined {
  return propertyElement(element, name)?.text
}

export function propertyElement(element: XmlElement, name: string): XmlElement | undefined {
  const known = PROPERTIES.get(element) ?? propertiesOf(element)
  PROPERTIES.set(element, known)
  return known.get(name)
}

/** By element: a producer is played many times, and can have thousands of properties. */
const PROPERTIES = new WeakMap<XmlElement, ReadonlyMap<string, XmlElement>>()

/** The properties of an element by name; of two with one name, the first. */
function propertiesOf(element: XmlElement): ReadonlyMap<string, XmlElement> {
  const named = childElements(element, 'property').map((one) => [one.attributes.name ?? '', one] as const)
  return new Map(named.reverse())
}

/** Frames a second of a project. */
export function projectRate(root: XmlElement): Rational {
  const { frame_rate_num: num = '', frame_rate_den: den = '1' } = child(root, 'profile')?.attributes ?? {}
  const isRatio = /^[1-9]\d{0,8}$/.test(num) && /^[1-9]\d{0,8}$/.test(den)
  return isRatio ? rational(BigInt(num), BigInt(den)) : rational(25)
}

/** Frames of a place in MLT: a number, `00:00:01.960` (rounded) or `00:00:01:24`. Undefined for other text. */
export function placeInFrames(text: string | undefined, rate: Rational): bigint | undefined {
  const plain = text?.trim() ?? ''
  if (/^\d{1,12}$/.test(plain)) return BigInt(plain)
  const [, hours = '0', minutes = '0', seconds = '', frames] =
    /^(?:(\d{1,6}):)?(\d{1,2}):(\d{1,2}(?:[.,]\d{1,9})?)(?:[:;](\d{1,3}))?$/.exec(plain) ?? []
  const sec = decimal(seconds.replace(',', '.'))
  if (!sec) return undefined
  const whole = add(rational(BigInt(hours) * 3600n + BigInt(minutes) * 60n), sec)
  // MLT rounds to the nearest frame.
  return floor(add(multiply(whole, rate), rational(1, 2))) + BigInt(frames ?? 0)
}

/**
 * The media file of a producer or chain; undefined for a colour, a title, a picture, a project in a project.
 *
 * @returns `address` is written, to tell producers of one file by; `speed` is source seconds a second, negative backwards
 */
export function mediaOf(producer: XmlElement, root: XmlElement) {
  const service = property(producer, 'mlt_service') ?? 'avformat'
  const resource = property(producer, 'resource') ?? ''
  if (!/^(avformat|timewarp)/.test(service) || resource === '') return undefined
  const [, speed, warped] = (service === 'timewarp' && /^(-?[\d.,]+):(.+)$/s.exec(resource)) || []
  // A proxy stands in for it while it is edited.
  const isProxied = !/^-?$/.test(property(producer, 'kdenlive:proxy') ?? '')
  const original = isProxied ? property(producer, 'kdenlive:originalurl') : undefined
  const address = original ?? property(producer, 'warp_resource') ?? warped ?? resource
  if (address === '' || /^<|^-?\d*$/.test(address)) return undefined
  const folder = root.attributes.root
  const paths = folder !== undefined && !isAbsolute(address) ? [join(folder, address), address] : [address]
  const factor = localDecimal(property(producer, 'warp_speed') ?? speed ?? '1')
  return { address, paths, speed: factor && factor.numerator !== 0n ? factor : ONE }
}

/** Checks whether a producer's sound is switched off. */
export function isSilent(producer: XmlElement): boolean {
  return property(producer, 'audio_index') === '-1' || property(producer, 'set.test_audio') === '1'
}

/**
 * The change of speed over the length of a chain (the link that Shotcut and Kdenlive call time remap); undefined if it
 * has none.
 *
 * @returns source seconds at its keyframes; empty if it says how fast, not what: of that, all of the file can be meant
 */
export function remapOf(chain: XmlElement) {
  const links = childElements(chain, 'link').filter((one) => property(one, 'mlt_service') === 'timeremap')
  const link = links.find((one) => property(one, 'disable') !== '1')
  if (!link) return undefined
  // If both exist, MLT plays the map of speeds.
  if (property(link, 'speed_map')) return { times: [] }
  const map = property(link, 'time_map') ?? property(link, 'map')
  const values = map?.split(';').map((point) => localDecimal(point.split('=')[1] ?? ''))
  const times = values?.filter((value) => value !== undefined) ?? []
  return map === undefined || map === '' ? undefined : { times }
}

/** A number as a project writes it whose LC_NUMERIC has a decimal comma. */
function localDecimal(text: string): Rational | undefined {
  return decimal(text.replace(',', '.'))
}

/** Seconds of a number of frames. */
export function secondsOf(frames: bigint, rate: Rational): Rational {
  return divide(rational(frames), rate)
}
