import { type Rational, rational } from '../time/rational.js'
import { TimelineSyntaxError } from '../timeline-error.js'
import type { CompoundEntry } from './compound-file.js'

/**
 * Objects of the Advanced Authoring Format, as its stored format specification 1.0.1 lays them into storages. Simple
 * values stand in the stream `properties`. Objects stand in storages below.
 */
export interface AafObject {
  readonly storage: CompoundEntry
  /** Number of its class within the classes of AAF; 0 for one of another register. */
  readonly classNumber: number
  /** Values by the number of their property. */
  readonly values: ReadonlyMap<number, AafValue>
}

interface AafValue {
  /** How it is stored: 0x82 is data. */
  readonly form: number
  readonly data: Buffer
}

/** Classes of the object model that are read (AAF Object Specification 1.1). */
export const CLASS = {
  sourceClip: 0x1100,
  transition: 0x1700,
  essenceGroup: 0x0500,
  operationGroup: 0x0a00,
  nestedScope: 0x0b00,
  pulldown: 0x0c00,
  scopeReference: 0x0d00,
  selector: 0x0e00,
  sequence: 0x0f00,
  filler: 0x0900,
  filmDescriptor: 0x2d00,
  tapeDescriptor: 0x2e00,
  networkLocator: 0x3200,
  compositionMob: 0x3500,
  sourceMob: 0x3700,
  timelineSlot: 0x3b00,
  importDescriptor: 0x4a00,
  recordingDescriptor: 0x4b00,
} as const

/** Properties of the object model that are read. */
export const PROPERTY = {
  header: 0x0002,
  dataDefinition: 0x0201,
  length: 0x0202,
  choices: 0x0501,
  operation: 0x0b01,
  inputs: 0x0b02,
  scopeSlots: 0x0c01,
  pulldownInput: 0x0d01,
  selected: 0x0f01,
  alternates: 0x0f02,
  components: 0x1001,
  sourceId: 0x1101,
  sourceSlotId: 0x1102,
  startTime: 0x1201,
  mobs: 0x1901,
  essenceData: 0x1902,
  isTimeWarp: 0x1e02,
  operationDefinitions: 0x2603,
  essenceMobId: 0x2701,
  locators: 0x2f01,
  content: 0x3b03,
  dictionary: 0x3b04,
  url: 0x4001,
  mobId: 0x4401,
  mobName: 0x4402,
  slots: 0x4403,
  description: 0x4701,
  slotId: 0x4801,
  segment: 0x4803,
  editRate: 0x4b01,
  origin: 0x4b02,
  identification: 0x1b01,
} as const

/** Begins and ends of the class ids that AAF registers: 0d010101-0101-CCCC-060e-2b3402060101. */
const [CLASS_BEGIN, CLASS_END] = [Buffer.from('0101010d0101', 'hex'), Buffer.from('060e2b3402060101', 'hex')]
const LITTLE_ENDIAN = 0x4c
/** The bytes of a stream of properties: a head, one head for each value, and the values in the same order. */
const [HEAD_BYTES, VALUE_HEAD_BYTES] = [4, 6]

/** The object in a storage; without values if it holds none that can be read. */
export function aafObject(storage: CompoundEntry): AafObject {
  const object = OBJECTS.get(storage) ?? readObject(storage)
  OBJECTS.set(storage, object)
  return object
}

/** By storage: an index may name one object many times. */
const OBJECTS = new WeakMap<CompoundEntry, AafObject>()

function readObject(storage: CompoundEntry): AafObject {
  const { classId } = storage
  const isAaf = classId.subarray(0, 6).equals(CLASS_BEGIN) && classId.subarray(8).equals(CLASS_END)
  return { storage, classNumber: isAaf ? classId.readUInt16LE(6) : 0, values: valuesOf(storage) }
}

function valuesOf(storage: CompoundEntry): ReadonlyMap<number, AafValue> {
  const values = new Map<number, AafValue>()
  const bytes = storage.children.get('properties')?.content
  if (!bytes || bytes.length < HEAD_BYTES || bytes[0] !== LITTLE_ENDIAN) return values
  const count = bytes.readUInt16LE(2)
  let at = HEAD_BYTES + count * VALUE_HEAD_BYTES
  for (let index = 0; index < count && at <= bytes.length; index++) {
    const head = HEAD_BYTES + index * VALUE_HEAD_BYTES
    const end = at + bytes.readUInt16LE(head + 4)
    values.set(bytes.readUInt16LE(head), { form: bytes.readUInt16LE(head + 2), data: bytes.subarray(at, end) })
    at = end
  }
  return values
}

/** The stream of properties of an object with another value of one of them. */
export function propertiesWith({ storage, values }: AafObject, property: number, data: Buffer): Buffer {
  const old = storage.children.get('properties')?.content ?? Buffer.alloc(HEAD_BYTES)
  const all = [...values].map(([id, value]) => ({ id, form: value.form, data: id === property ? data : value.data }))
  const heads = all.map(({ id, form, data }) => {
    const head = Buffer.alloc(VALUE_HEAD_BYTES)
    head.writeUInt16LE(id, 0)
    head.writeUInt16LE(form, 2)
    head.writeUInt16LE(data.length, 4)
    return head
  })
  return Buffer.concat([old.subarray(0, HEAD_BYTES), ...heads, ...all.map((value) => value.data)])
}

/** The one object that a property holds. */
export function objectIn(object: AafObject | undefined, property: number): AafObject | undefined {
  const storage = object?.storage.children.get(utf16In(object, property) ?? '')
  return storage?.kind === 'storage' ? aafObject(storage) : undefined
}

/** The objects that a vector or a set holds, in the order of its index. @throws {TimelineSyntaxError} */
export function objectsIn(object: AafObject | undefined, property: number): readonly AafObject[] {
  const name = utf16In(object, property)
  const index = object?.storage.children.get(`${name} index`)?.content
  if (!object || name === undefined || !index || index.length < 12) return []
  // Each entry of a set also counts its references and repeats the key of its object.
  const isSet = ((object.values.get(property)?.form ?? 0) & 0x38) === 0x38
  const [start, step] = isSet && index.length > 14 ? [15, 8 + (index[14] ?? 16)] : [12, 4]
  const objects: AafObject[] = []
  for (let at = start; at + 4 <= index.length && objects.length < index.readUInt32LE(0); at += step) {
    const storage = object.storage.children.get(`${name}{${index.readUInt32LE(at).toString(16)}}`)
    if (!storage) throw new TimelineSyntaxError('it is not a readable AAF file: it names an object that does not exist')
    objects.push(aafObject(storage))
  }
  return objects
}

/** A text in UTF-16, without the zero at its end; undefined if there is none. */
export function utf16In(object: AafObject | undefined, property: number): string | undefined {
  return object?.values.get(property)?.data.toString('utf16le').split('\0', 1)[0]
}

/** A whole number of 32 or 64 bits. */
export function integerIn(object: AafObject | undefined, property: number): bigint | undefined {
  const data = object?.values.get(property)?.data
  if (data?.length === 8) return data.readBigInt64LE(0)
  return data?.length === 4 ? BigInt(data.readUInt32LE(0)) : undefined
}

/** A ratio of two whole numbers above 0. */
export function rateIn(object: AafObject | undefined, property: number): Rational | undefined {
  const data = object?.values.get(property)?.data
  if (data?.length !== 8) return undefined
  const [numerator, denominator] = [data.readInt32LE(0), data.readInt32LE(4)]
  return numerator > 0 && denominator > 0 ? rational(numerator, denominator) : undefined
}

/** An identity as text; undefined if it is missing or all zeros, which names nothing. */
export function identityIn(object: AafObject | undefined, property: number): string | undefined {
  const text = object?.values.get(property)?.data.toString('hex')
  return text === undefined || /^0*$/.test(text) ? undefined : text
}

/** The key of the definition that a weak reference names: behind five bytes of the reference. */
export function definitionIn(object: AafObject | undefined, property: number): string | undefined {
  const data = object?.values.get(property)?.data
  return data && data.length >= 21 ? data.subarray(5, 21).toString('hex') : undefined
}
