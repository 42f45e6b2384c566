/**
 * Builds AAF files for tests from the published descriptions (MS-CFB, AAF Object Specification 1.1, AAF Stored Format
 * Specification 1.0.1), without any code of the reader.
 */

type Value =
  | { readonly data: Buffer }
  | { readonly object: AafNode }
  | { readonly vector: readonly AafNode[] }
  | { readonly set: readonly AafNode[]; readonly key: number }

export interface AafNode {
  readonly classNumber: number
  readonly values: ReadonlyMap<number, Value>
}

const node = (classNumber: number, values: Readonly<Record<number, Value | undefined>>): AafNode => ({
  classNumber,
  values: new Map(Object.entries(values).flatMap(([id, value]) => (value ? [[Number(id), value] as const] : []))),
})

const data = (hex: string) => ({ data: Buffer.from(hex, 'hex') })
const text = (value: string) => ({ data: Buffer.from(`${value}\0`, 'utf16le') })
const u32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return { data: bytes }
}
const i64 = (value: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt(value))
  return { data: bytes }
}
const ratio = ([numerator, denominator]: readonly [number, number]) => {
  const bytes = Buffer.alloc(8)
  bytes.writeInt32LE(numerator)
  bytes.writeInt32LE(denominator, 4)
  return { data: bytes }
}
/** A weak reference: where its target lies, the property that is its key, the size of the key, and the key. */
const weak = (key: string) => data(`0100011b10${key}`)
const mobId = (name: string) => Buffer.from(name.padEnd(32, '.')).toString('hex')

const SOUND = '0202030100020000060e2b3404010101'
export const PICTURE = '0202030100010000060e2b3404010101'
/** An operation that changes speed, and one that does not. */
export const [WARP, GAIN] = ['aa'.repeat(16), 'bb'.repeat(16)]

const component = (length: number, kind = SOUND) => ({ 513: weak(kind), 514: i64(length) })
export const sourceClip = (mob: string, start: number, length: number, kind = SOUND) =>
  node(0x1100, { ...component(length, kind), 4353: data(mobId(mob)), 4354: u32(1), 4609: i64(start) })
/** The end of a chain. */
export const noSource = (length: number) =>
  node(0x1100, { ...component(length), 4353: data('00'.repeat(32)), 4354: u32(0), 4609: i64(0) })
export const filler = (length: number) => node(0x0900, component(length))
export const transition = (length: number) => node(0x1700, component(length))
export const sequence = (length: number, components: readonly AafNode[], kind = SOUND) =>
  node(0x0f00, { ...component(length, kind), 4097: { vector: components } })
export const effect = (length: number, operation: string, inputs: readonly AafNode[]) =>
  node(0x0a00, { ...component(length), 2817: weak(operation), 2818: { vector: inputs } })
export const selector = (length: number, selected: AafNode, alternates: readonly AafNode[]) =>
  node(0x0e00, { ...component(length), 3841: { object: selected }, 3842: { vector: alternates } })

export type Rate = readonly [number, number]
export const slot = (segment: AafNode, rate: Rate, origin = 0) =>
  node(0x3b00, { 18433: u32(1), 18435: { object: segment }, 19201: ratio(rate), 19202: i64(origin) })
const mob = (
  classNumber: number,
  name: string,
  slots: readonly AafNode[],
  more: Readonly<Record<number, Value>> = {},
) => node(classNumber, { 17409: data(mobId(name)), 17410: text(name), 17411: { vector: slots }, ...more })
export const composition = (name: string, ...slots: readonly AafNode[]) => mob(0x3500, name, slots)
export const masterClip = (name: string, ...slots: readonly AafNode[]) => mob(0x3600, name, slots)
/** A file with its locators; on a tape (0x2e00) if that is said. */
export const fileMob = (name: string, slots: readonly AafNode[], urls: readonly string[], descriptor = 0x4800) => {
  const locators = urls.map((url) => node(0x3200, { 16385: text(url) }))
  return mob(0x3700, name, slots, { 18177: { object: node(descriptor, { 12033: { vector: locators } }) } })
}

/** A file of 512-byte or 4096-byte sectors. `embedded` names mobs whose sound the file holds itself. */
export function aafFile(
  mobs: readonly AafNode[],
  { sectorBytes = 512, embedded = [] as readonly string[] } = {},
): Buffer {
  const essence = embedded.map((name) => node(0x2300, { 9985: data(mobId(name)), 9986: data('00') }))
  const content = node(0x1800, { 6401: { set: mobs, key: 0x4401 }, 6402: { set: essence, key: 0x2701 } })
  const operations = [WARP, GAIN].map((id) => node(0x1c00, { 6913: data(id), 7682: data(id === WARP ? '01' : '00') }))
  const dictionary = node(0x2200, { 9731: { set: operations, key: 0x1b01 } })
  const header = node(0x2f00, { 15107: { object: content }, 15108: { object: dictionary } })
  const root = storageOf(node(0, { 2: { object: header } }), 'Root Entry')
  // A stream that is too long for the mini stream.
  const long = {
    name: 'referenced properties',
    content: Buffer.alloc(9000, 'r'),
    children: [],
    classId: Buffer.alloc(16),
  }
  return compoundFile({ ...root, children: [...root.children, long] }, sectorBytes)
}

interface Storage {
  readonly name: string
  readonly classId: Buffer
  readonly children: readonly Storage[]
  /** Of a stream. */
  readonly content?: Buffer
}

const stream = (name: string, content: Buffer): Storage => ({ name, content, children: [], classId: Buffer.alloc(16) })

function storageOf({ classNumber, values }: AafNode, name: string): Storage {
  const classId = Buffer.from('0101010d01010000060e2b3402060101', 'hex')
  classId.writeUInt16LE(classNumber, 6)
  const children: Storage[] = []
  const stored = [...values].map(([id, value]) => {
    const own = `value-${id.toString(16)}`
    const names = Buffer.from(`${own}\0`, 'utf16le')
    if ('data' in value) return { id, form: 0x82, bytes: value.data }
    if ('object' in value) {
      children.push(storageOf(value.object, own))
      return { id, form: 0x22, bytes: names }
    }
    const objects = 'vector' in value ? value.vector : value.set
    children.push(...objects.map((object, index) => storageOf(object, `${own}{${index.toString(16)}}`)))
    children.push(
      stream(`${own} index`, 'vector' in value ? vectorIndex(objects.length) : setIndex(objects, value.key)),
    )
    return { id, form: 'vector' in value ? 0x32 : 0x3a, bytes: names }
  })
  const heads = stored.map(({ id, form, bytes }) => {
    const head = Buffer.alloc(6)
    for (const [index, number] of [id, form, bytes.length].entries()) head.writeUInt16LE(number, index * 2)
    return head
  })
  const start = Buffer.from([0x4c, 32, stored.length & 255, stored.length >> 8])
  children.push(stream('properties', Buffer.concat([start, ...heads, ...stored.map(({ bytes }) => bytes)])))
  return { name, classId, children }
}

function vectorIndex(count: number): Buffer {
  return Buffer.concat(
    [count, count, 0xffffffff, ...Array.from({ length: count }, (_, index) => index)].map((n) => u32(n).data),
  )
}

function setIndex(objects: readonly AafNode[], key: number): Buffer {
  const keys = objects.map(({ values }) => (values.get(key) as { readonly data: Buffer }).data)
  const start = Buffer.concat([objects.length, objects.length, 0xffffffff].map((n) => u32(n).data))
  const keyHead = Buffer.from([key & 255, key >> 8, keys[0]?.length ?? 16])
  return Buffer.concat([start, keyHead, ...keys.flatMap((one, index) => [u32(index).data, u32(1).data, one])])
}

/** Siblings are a list that leans to the right, in the order of the format: by length, then by letters. */
function compoundFile(root: Storage, sectorBytes: number): Buffer {
  const entries: { readonly storage: Storage; child: number; right: number }[] = [
    { storage: root, child: -1, right: -1 },
  ]
  for (let at = 0; at < entries.length; at++) {
    const parent = entries[at]
    const sorted = [...(parent?.storage.children ?? [])].sort((a, b) => {
      const [one, other] = [a.name.toUpperCase(), b.name.toUpperCase()]
      return one.length - other.length || (one < other ? -1 : 1)
    })
    for (const [index, storage] of sorted.entries()) {
      if (parent && index === 0) parent.child = entries.length
      entries.push({ storage, child: -1, right: index + 1 < sorted.length ? entries.length + 1 : -1 })
    }
  }
  const sectors: Buffer[] = []
  const table: number[] = []
  const put = (content: Buffer) => {
    const start = sectors.length
    for (let at = 0; at < content.length; at += sectorBytes) {
      const sector = Buffer.alloc(sectorBytes)
      content.copy(sector, 0, at, at + sectorBytes)
      sectors.push(sector)
      table.push(at + sectorBytes < content.length ? sectors.length : 0xfffffffe)
    }
    return content.length === 0 ? 0xfffffffe : start
  }
  const minis: Buffer[] = []
  const miniTable: number[] = []
  const putMini = (content: Buffer) => {
    const start = minis.length
    for (let at = 0; at < content.length; at += 64) {
      const sector = Buffer.alloc(64)
      content.copy(sector, 0, at, at + 64)
      minis.push(sector)
      miniTable.push(at + 64 < content.length ? minis.length : 0xfffffffe)
    }
    return content.length === 0 ? 0xfffffffe : start
  }
  const places = entries.map(({ storage: { content } }) => {
    if (content === undefined) return { start: 0, size: 0 }
    return { start: content.length < 4096 ? putMini(content) : put(content), size: content.length }
  })
  const miniStream = Buffer.concat(minis)
  places[0] = { start: put(miniStream), size: miniStream.length }
  const miniNumbers = Buffer.concat(miniTable.map((number) => u32(number).data))
  const miniStart = put(Buffer.concat([miniNumbers, Buffer.alloc(-miniNumbers.length & (sectorBytes - 1), 255)]))
  const directory = entries.map(({ storage, child, right }, index) => {
    const raw = Buffer.alloc(128)
    raw.write(storage.name, 'utf16le')
    raw.writeUInt16LE((storage.name.length + 1) * 2, 64)
    raw[66] = index === 0 ? 5 : storage.content === undefined ? 1 : 2
    raw[67] = 1
    raw.writeInt32LE(-1, 68)
    raw.writeInt32LE(right, 72)
    raw.writeInt32LE(child, 76)
    storage.classId.copy(raw, 80)
    raw.writeUInt32LE(places[index]?.start ?? 0, 116)
    raw.writeUInt32LE(places[index]?.size ?? 0, 120)
    return raw
  })
  const blank = Buffer.alloc(128)
  for (const at of [68, 72, 76]) blank.writeInt32LE(-1, at)
  while (directory.length % (sectorBytes / 128) !== 0) directory.push(blank)
  const directoryStart = put(Buffer.concat(directory))
  const perSector = sectorBytes / 4
  let tableCount = 1
  while ((table.length + tableCount) / perSector > tableCount) tableCount++
  const header = Buffer.alloc(sectorBytes)
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(header)
  header.writeUInt16LE(0x3e, 24)
  header.writeUInt16LE(sectorBytes === 512 ? 3 : 4, 26)
  header.writeUInt16LE(0xfffe, 28)
  header.writeUInt16LE(sectorBytes === 512 ? 9 : 12, 30)
  header.writeUInt16LE(6, 32)
  header.writeUInt32LE(sectorBytes === 512 ? 0 : Math.ceil((directory.length * 128) / sectorBytes), 40)
  header.writeUInt32LE(tableCount, 44)
  header.writeUInt32LE(directoryStart, 48)
  header.writeUInt32LE(4096, 56)
  header.writeUInt32LE(miniStart, 60)
  header.writeUInt32LE(Math.ceil(miniNumbers.length / sectorBytes), 64)
  header.writeUInt32LE(0xfffffffe, 68)
  for (let index = 0; index < 109; index++)
    header.writeUInt32LE(index < tableCount ? table.length + index : 0xffffffff, 76 + index * 4)
  const numbers = [...table, ...Array.from({ length: tableCount }, () => 0xfffffffd)]
  while (numbers.length < tableCount * perSector) numbers.push(0xffffffff)
  return Buffer.concat([header, ...sectors, ...numbers.map((number) => u32(number).data)])
}
