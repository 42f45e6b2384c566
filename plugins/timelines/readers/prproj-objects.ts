import { decimal, type Rational, rational } from '../time/rational.js'
import { TICKS } from './fcp7-values.js'
import { child, type XmlElement } from './xml-document.js'

/** The objects of a Premiere project, which name each other: `ObjectRef` an `ObjectID`, `ObjectURef` an `ObjectUID`. */
export class PremiereObjects {
  readonly all: readonly XmlElement[]
  readonly #byId: ReadonlyMap<string, XmlElement>
  readonly #byUid: ReadonlyMap<string, XmlElement>

  constructor(root: XmlElement) {
    this.all = root.children
    const by = (key: string) =>
      new Map(this.all.flatMap((one) => (key in one.attributes ? [[one.attributes[key] ?? '', one]] : [])))
    this.#byId = by('ObjectID')
    this.#byUid = by('ObjectUID')
  }

  /** The object that an element names; undefined if it names none, or one that does not exist. */
  named(element: XmlElement | undefined): XmlElement | undefined {
    const { ObjectRef: id, ObjectURef: uid } = element?.attributes ?? {}
    return (id === undefined ? undefined : this.#byId.get(id)) ?? (uid === undefined ? undefined : this.#byUid.get(uid))
  }
}

/** Identity of an object within its project. */
export function objectKey({ attributes, start }: XmlElement): string {
  return attributes.ObjectUID ?? attributes.ObjectID ?? `at ${start}`
}

/** An element further down, by the names on the way to it. */
export function below(element: XmlElement | undefined, ...names: readonly string[]): XmlElement | undefined {
  return names.reduce<XmlElement | undefined>((at, name) => child(at, name), element)
}

/** Seconds of a number of ticks; undefined if it is missing or not a number. */
export function ticksIn(element: XmlElement | undefined, name: string): Rational | undefined {
  const text = child(element, name)?.text ?? ''
  return /^-?\d{1,19}$/.test(text) ? rational(BigInt(text), TICKS) : undefined
}

/** True for an element with the text *true*. */
export function isTrue(element: XmlElement | undefined, name: string): boolean {
  return child(element, name)?.text.toLowerCase() === 'true'
}

/** Exact value of decimals; undefined if they are missing or not a number. */
export function decimalIn(element: XmlElement | undefined, name: string): Rational | undefined {
  return decimal(child(element, name)?.text ?? '')
}
