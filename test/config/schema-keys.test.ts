import { expect, it } from 'vitest'
import { z } from 'zod'
import { schemaKeys } from '../../src/config/schema-keys.js'

it('lists the keys of each object that a value of several kinds may be', () => {
  const part = z.union([z.object({ startSec: z.number() }), z.object({ chapter: z.string() })])
  const keys = schemaKeys(z.object({ parts: z.array(part), either: part.nullable() }))
  expect(keys.map(({ path, type }) => [path, type])).toEqual([
    ['parts', 'list of object'],
    ['parts[].startSec', 'number'],
    ['parts[].chapter', 'string'],
    ['either', 'object | null'],
    ['either.startSec', 'number'],
    ['either.chapter', 'string'],
  ])
})
