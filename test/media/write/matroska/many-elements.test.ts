import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { ID } from '../../../../src/media/probe/matroska/ids.js'
import { type Element, ElementCount, parseElements } from '../../../../src/media/write/matroska/read/element.js'

it('holds a hundred bytes or so for an element, of which tags may have a million', () => {
  // A tag with an empty list of targets, and a name with a value.
  const tag = Buffer.from('7373 8d 63c080 67c8 87 45a38141 448780'.replaceAll(' ', ''), 'hex')
  const tags = Buffer.alloc(100_000 * tag.length, tag)
  const before = usedBytes()
  const elements = parseElements(tags, 1000, new ElementCount())
  const count = elements.length + elements.reduce((sum, { children }) => sum + countOf(children), 0)
  expect((usedBytes() - before) / count).toBeLessThan(180)
  expect(count).toBe(500_000)
  const last = elements.at(-1)
  expect(last).toMatchObject({ id: ID.Tag, start: 1000 + tags.length - tag.length, bytes: tag, body: tag.subarray(3) })
  expect(last?.children.map(({ start }) => start - 1000 - tags.length)).toEqual([-13, -10])
})

function countOf(elements: readonly Element[]): number {
  return elements.reduce((sum, { children }) => sum + 1 + countOf(children), 0)
}

function usedBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
