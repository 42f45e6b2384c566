import { describe, expect, it } from 'vitest'
import { OPERATIONS, operationMessageSchema, validationErrorResponseSchema } from '../../src/contract/index.js'
import fc, { anyCharacter } from '../helpers/properties.js'
import { apiClient } from './support/api-client.js'
import { plainEngine } from './support/engines.js'
import { withService } from './support/with-service.js'

const { ping: _, ...WITH_BODY } = OPERATIONS

/** Names and values that the interface knows, mixed with anything else: pure noise rarely gets past the first brace. */
const name = fc.constantFrom(
  'file_to_register',
  'client_file_id',
  'source_url',
  'start',
  'end',
  'file_id',
  'fileId',
  'fileIds',
  'options',
  'model',
  'webhook',
  'webhook_secret',
  'output_type',
  '__proto__',
  'constructor',
  '',
)
const value = fc.oneof(
  fc.constantFrom(
    'regen_v1',
    'wav',
    'https://example.com/a.wav',
    'http://127.0.0.1/',
    true,
    null,
    0,
    -0,
    1e308,
    -1,
    2 ** 53,
  ),
  fc.string({ unit: anyCharacter }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const { body: structured } = fc.letrec<{ body: unknown }>((tie) => ({
  body: fc.oneof(
    { maxDepth: 4 },
    value,
    fc.array(tie('body'), { maxLength: 4 }),
    fc.dictionary(name, tie('body'), { maxKeys: 5 }),
  ),
}))
const register = fc.record({
  file_to_register: fc.record(
    { client_file_id: fc.string({ unit: anyCharacter }), start: value, end: value },
    { requiredKeys: ['client_file_id'] },
  ),
})
const start = fc.record({
  file_id: fc.string({ unit: anyCharacter }),
  options: fc.record({ model: fc.constant('regen_v1'), webhook_secret: fc.string({ unit: anyCharacter }) }),
})
const status = fc.record({ fileIds: fc.array(fc.string({ unit: anyCharacter }), { maxLength: 5 }) })
const anyBody = fc.oneof(structured, fc.jsonValue(), register, start, status)

describe('any JSON at any operation', () => {
  it.each(Object.values(WITH_BODY))(
    '$name answers 2xx, 400 or 404 in the right shape, and never a 500',
    async ({ path, answer, name }) => {
      const client = await apiClient(await withService({ engine: plainEngine, serveOnly: true }))
      await fc.assert(
        fc.asyncProperty(anyBody, async (body) => {
          const response = await client.post(path.replace('/api/v1/', ''), JSON.stringify(body))
          const content: unknown = await response.json()
          if (response.status === 200) answer.parse(content)
          else if (response.status === 400) validationErrorResponseSchema.parse(content)
          else {
            expect([name, response.status]).toEqual([name, 404])
            operationMessageSchema.parse(content)
          }
        }),
        { numRuns: 150 },
      )
    },
  )

  it('is not the only thing that may come: any bytes with any content type', async () => {
    const client = await apiClient(await withService({ serveOnly: true }))
    const type = fc.constantFrom(
      'application/json',
      'text/plain',
      'application/xml',
      'application/json; charset=utf-16',
    )
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: anyCharacter, maxLength: 200 }), type, async (body, contentType) => {
        const response = await client.post('getFilesStatus', body, { 'content-type': contentType })
        expect(response.status).toBe(400)
        validationErrorResponseSchema.parse(await response.json())
      }),
      { numRuns: 100 },
    )
  })
})
