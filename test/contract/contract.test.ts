import { expect, it } from 'vitest'
import {
  clientProcessOptionsSchema,
  FILE_ERROR_CODES,
  fileErrorInfo,
  fileProcessingStatusSchema,
  getFilesStatusRequestSchema,
  OPERATIONS,
  operationMessageSchema,
  registerFileAnswerSchema,
  START_ERROR_CODES,
  startProcessAnswerSchema,
  startProcessRequestSchema,
  userFileSchema,
  validationErrorResponseSchema,
  webhookBodySchema,
  webhookStatusSchema,
} from '../../src/contract/index.js'
import fc from '../helpers/properties.js'

const file = { client_file_id: 'a.mov' }
const REQUESTS: readonly [keyof typeof OPERATIONS, object][] = [
  ['registerFile', { file_to_register: { ...file, start: 0.5, end: 9 } }],
  ['registerFileFromUrl', { file_to_register: { ...file, source_url: 'https://host/a.mov' } }],
  [
    'startProcess',
    { file_id: 'f', options: { model: 'regen_v1', webhook: true, webhook_secret: '', output_type: 'opus' } },
  ],
  ['getFilesStatus', { fileIds: ['f'] }],
  ['getOutputFileUrl', { fileId: 'f' }],
]

/** Every object in a value, to put something into it. */
function objectsIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return [value as Record<string, unknown>, ...Object.values(value).flatMap(objectsIn)]
}

it.each(REQUESTS)('%s takes what the interface lists and no property more, at any depth', (name, request) => {
  const schema = OPERATIONS[name].request
  expect(schema?.safeParse(request).success).toBe(true)
  for (let depth = 0; depth < objectsIn(request).length; depth += 1) {
    const copy = structuredClone(request)
    const target = objectsIn(copy)[depth]
    if (target) target.unknown = 1
    expect(schema?.safeParse(copy).success, JSON.stringify(copy)).toBe(false)
  }
})

it('makes 400 of whatever is no request, and never coerces', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      for (const [name] of REQUESTS) expect(() => OPERATIONS[name].request?.safeParse(json)).not.toThrow()
    }),
  )
  const start = (value: unknown) => ({ file_to_register: { ...file, start: value } })
  for (const value of ['1', null, true])
    expect(OPERATIONS.registerFile.request.safeParse(start(value)).success).toBe(false)
})

it('holds the limits to the item and the character', () => {
  const ids = (count: number) => ({ fileIds: Array.from({ length: count }, (_, n) => `f${n}`) })
  expect([0, 1, 100, 101].map((n) => getFilesStatusRequestSchema.safeParse(ids(n)).success)).toEqual([
    false,
    true,
    true,
    false,
  ])
  expect(getFilesStatusRequestSchema.safeParse({ fileIds: [''] }).success).toBe(false)
  const secret = (length: number) => ({
    file_id: 'f',
    options: { model: 'regen_v1', webhook_secret: 'x'.repeat(length) },
  })
  expect([1000, 1001].map((n) => startProcessRequestSchema.safeParse(secret(n)).success)).toEqual([true, false])
})

it('is strict about the model as a service and open as a client', () => {
  expect(startProcessRequestSchema.safeParse({ file_id: 'f', options: { model: 'other' } }).success).toBe(false)
  expect(clientProcessOptionsSchema.safeParse({ model: 'other' }).success).toBe(true)
})

it('closes what the interface closes and leaves open what it leaves open', () => {
  const status = { id: 'f', status: 'Pending', errorCode: 0, progress: 0 }
  expect(fileProcessingStatusSchema.safeParse(status).success).toBe(true)
  expect(fileProcessingStatusSchema.safeParse({ ...status, more: 1 }).success).toBe(false)
  expect(fileProcessingStatusSchema.safeParse({ ...status, errorCode: -19 }).success).toBe(false)
  const invalid = { statusCode: 400, code: 'FST_ERR_VALIDATION', error: 'Bad Request', message: 'm' }
  expect(validationErrorResponseSchema.safeParse(invalid).success).toBe(true)
  expect(validationErrorResponseSchema.safeParse({ ...invalid, more: 1 }).success).toBe(false)
  expect(operationMessageSchema.parse({ more: 1 })).toEqual({ more: 1 })
  const user = { id: 'i', name: 'n', status: 's', updatedTimestamp: 1, createdTimestamp: 1, multi_speaker: false }
  expect(userFileSchema.safeParse(user).success).toBe(false)
  expect(
    userFileSchema.safeParse({ ...user, inputWaveformLocation: null, outputWaveformLocation: 'x', more: 1 }).success,
  ).toBe(true)
  const registered = {
    file_id: 'f',
    client_file_id: 'a',
    file_name: 'a',
    file_upload_link: 'https://h/x',
    file_upload_expiry: 1,
  }
  expect(registerFileAnswerSchema.safeParse({ registered_file: registered }).success).toBe(true)
  expect(registerFileAnswerSchema.safeParse({ registered_file: { ...registered, error_code: 1 } }).success).toBe(false)
  expect(registerFileAnswerSchema.safeParse({ registered_file: [registered] }).success).toBe(false)
})

it('has all nineteen file error codes with what a person can do', () => {
  expect(FILE_ERROR_CODES).toEqual(Array.from({ length: 19 }, (_, n) => 0 - n))
  expect(new Set(FILE_ERROR_CODES.map((code) => fileErrorInfo(code).name)).size).toBe(19)
  for (const code of FILE_ERROR_CODES.slice(1)) {
    expect(fileErrorInfo(code)).toMatchObject({ code, meaning: expect.stringMatching(/\.$/) })
    expect(fileErrorInfo(code).remedies.length).toBeGreaterThan(0)
  }
})

it('takes exactly the start codes and webhook states of the interface', () => {
  expect(START_ERROR_CODES).toHaveLength(58)
  const answer = (code: number) =>
    startProcessAnswerSchema.safeParse({ file_id: 'f', error: { code, message: 'm' } }).success
  expect([306, 425, 509, 599].some(answer)).toBe(false)
  expect(START_ERROR_CODES.every(answer)).toBe(true)
  expect(startProcessAnswerSchema.safeParse({ file_id: 'f', error: null }).success).toBe(true)
  expect(startProcessAnswerSchema.safeParse({ file_id: 'f' }).success).toBe(false)
  expect(webhookStatusSchema.options).toHaveLength(9)
  const body = (progress: number) => ({
    userId: 'u',
    type: 'status-updated',
    message: { fileId: 'f', status: 'In Progress', progress, errorCode: 0 },
  })
  expect([0, 100, 101, 0.5].map((n) => webhookBodySchema.safeParse(body(n)).success)).toEqual([
    true,
    true,
    false,
    false,
  ])
})
