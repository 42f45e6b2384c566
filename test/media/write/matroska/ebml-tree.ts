import { crc32 } from 'node:zlib'

/** An element as this reader finds it: the tests read with other code than the writer's. */
export interface Node {
  readonly id: string
  readonly start: number
  readonly dataStart: number
  readonly end: number
  readonly children: readonly Node[]
}

const MASTERS = new Set([
  ...['1a45dfa3', '18538067', '114d9b74', '4dbb', '1549a966', '1654ae6b', 'ae', 'e1', '6d80', '6240', '1f43b675', 'a0'],
  ...['1c53bb6b', 'bb', 'b7', '1254c367', '7373', '63c0', '67c8'],
])
/** Elements at the level of clusters. */
const TOP = new Set(['114d9b74', '1549a966', '1654ae6b', '1f43b675', '1c53bb6b', '1254c367', '1941a469', '1043a770'])

/** Reads the elements of a file. */
export function ebmlTree(file: Buffer, from = 0, end = file.length, parent = ''): readonly Node[] {
  const nodes: Node[] = []
  for (let at = from; at < end; ) {
    const idLength = lengthOf(file[at] as number)
    const id = file.toString('hex', at, at + idLength)
    // A cluster of unknown size ends before the next element of its level.
    if (parent === '1f43b675' && TOP.has(id)) break
    const sizeLength = lengthOf(file[at + idLength] as number)
    const sizeHex = file.toString('hex', at + idLength, at + idLength + sizeLength)
    const bits = BigInt(`0x${sizeHex}`) & ((1n << BigInt(7 * sizeLength)) - 1n)
    const dataStart = at + idLength + sizeLength
    const isUnknown = bits === (1n << BigInt(7 * sizeLength)) - 1n
    const stated = isUnknown ? end : dataStart + Number(bits)
    if (stated > end) throw new Error(`${id} at ${at} ends at ${stated} behind ${end}`)
    const children = MASTERS.has(id) ? ebmlTree(file, dataStart, stated, id) : []
    const last = isUnknown ? (children.at(-1)?.end ?? dataStart) : stated
    nodes.push({ id, start: at, dataStart, end: last, children })
    at = last
  }
  return nodes
}

function lengthOf(first: number): number {
  if (first === 0) throw new Error('not an element')
  return 8 - Math.floor(Math.log2(first))
}

/** Children with an id, in a path from the outside in. */
export function find(nodes: readonly Node[], ...[id, ...rest]: readonly string[]): readonly Node[] {
  const own = nodes.filter((node) => node.id === id)
  return rest.length === 0 ? own : own.flatMap(({ children }) => find(children, ...rest))
}

/** The unsigned integer in a node. */
export function numberIn(file: Buffer, node: Node | undefined): number {
  if (!node || node.dataStart === node.end) return 0
  return Number(BigInt(`0x${file.toString('hex', node.dataStart, node.end)}`))
}

/** A block with the time of its cluster added. */
export interface ReadBlock {
  readonly track: number
  readonly time: number
  readonly node: Node
  readonly cluster: Node
  /** Number among the blocks of its cluster, from 1. */
  readonly number: number
  readonly payload: Buffer
}

/** All blocks of a file, in file order. */
export function blocksOf(file: Buffer, tree: readonly Node[]): readonly ReadBlock[] {
  return find(tree, '18538067', '1f43b675').flatMap((cluster) => {
    const time = numberIn(file, find(cluster.children, 'e7')[0])
    const nodes = cluster.children.filter(({ id }) => id === 'a3' || id === 'a0')
    return nodes.map((node, place) => {
      const block = node.id === 'a3' ? node : (find(node.children, 'a1')[0] as Node)
      const track = (file[block.dataStart] as number) & 0x7f
      const payload = file.subarray(block.dataStart + 4, block.end)
      return { track, time: time + file.readInt16BE(block.dataStart + 1), node, cluster, number: place + 1, payload }
    })
  })
}

/** Checks every CRC-32 of a file; returns how many there are. */
export function checkedSums(file: Buffer, nodes: readonly Node[]): number {
  return nodes.reduce((count, { children, end }) => {
    const [first] = children
    const inside = checkedSums(file, children)
    if (first?.id !== 'bf') return count + inside
    if (file.readUInt32LE(first.dataStart) !== crc32(file.subarray(first.end, end))) {
      throw new Error(`the checksum at ${first.start} is wrong`)
    }
    return count + inside + 1
  }, 0)
}
