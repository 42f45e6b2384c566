import { expect } from 'vitest'
import {
  getFilesStatusAnswerSchema,
  pingAnswerSchema,
  registerFileAnswerSchema,
  registerFileFromUrlAnswerSchema,
  tokenAnswerSchema,
} from '../../src/contract/index.js'
import { answered, type Row, refused, refusedAsInvalid } from './row.js'

const register = (fields: object) => ({ file_to_register: { client_file_id: 'a.b.wav', ...fields } })
const start = (options: object) => ({ file_id: 'x', options: { model: 'regen_v1', ...options } })
const OPERATIONS = ['registerFile', 'registerFileFromUrl', 'startProcess', 'getFilesStatus', 'getOutputFileUrl']

const invalid = (section: string, sentence: string, operation: string, body: unknown): Row => ({
  section,
  sentence,
  check: async ({ post }) => refusedAsInvalid(await post(operation, body)),
})

/** Sentences that one request is enough for. */
export const REQUEST_ROWS: readonly Row[] = [
  {
    section: 'ping',
    sentence: 'needs no token and answers with a status',
    check: async ({ baseUrl }) => {
      await answered(await fetch(`${baseUrl}/api/v1/service-health/ping`), pingAnswerSchema)
    },
  },
  {
    section: 'authentication',
    sentence: 'the token endpoint answers access_token, token_type Bearer and expires_in of about an hour',
    check: async ({ token }) => {
      const answer = await answered(await token(), tokenAnswerSchema)
      expect(answer.token_type).toBe('Bearer')
      expect(answer.expires_in).toBeGreaterThan(3500)
      expect(answer.expires_in).toBeLessThanOrEqual(3600)
      expect(answer).not.toHaveProperty('refresh_token')
    },
  },
  ...[
    ['a wrong secret', { client_secret: 'wrong' }],
    ['an unknown client', { client_id: '00000000-0000-0000-0000-000000000000' }],
    ['another scope', { scope: 'api://00000000-0000-0000-0000-000000000000/.default' }],
    ['another grant', { grant_type: 'password' }],
  ].map(
    ([what, change]): Row => ({
      section: 'authentication',
      sentence: `the token endpoint refuses ${what}`,
      check: async ({ token }) => {
        const { status } = await token(change as Record<string, string>)
        expect([400, 401, 403]).toContain(status)
      },
    }),
  ),
  ...OPERATIONS.flatMap((operation): Row[] => [
    {
      section: 'authentication',
      sentence: `${operation} without a token is a 401 with an operation message`,
      check: async ({ post }) => refused(await post(operation, {}, ''), 401),
    },
    {
      section: 'authentication',
      sentence: `${operation} with a token that is none is a 401`,
      check: async ({ post }) => refused(await post(operation, {}, 'eyJhbGciOiJub25lIn0.e30.'), 401),
    },
    invalid('validation', `${operation} refuses an empty object`, operation, {}),
    invalid('validation', `${operation} refuses a body that is no JSON`, operation, '{'),
    invalid('validation', `${operation} refuses a list`, operation, []),
  ]),
  {
    section: 'registerFile',
    sentence: 'answers one registered file: id, client id echoed, name without extension, link and its expiry',
    check: async ({ post }) => {
      const { registered_file } = await answered(await post('registerFile', register({})), registerFileAnswerSchema)
      expect(registered_file).toMatchObject({ client_file_id: 'a.b.wav', file_name: 'a.b' })
      expect(registered_file.file_upload_expiry).toBeGreaterThan(Date.now() / 1000)
    },
  },
  ...[
    ['with a NUL inside', 'a\0b.wav', 'a\0b'],
    ['beyond ASCII, in no normal form', 'e\u0301 \u{1f600} \u540d.wav', 'e\u0301 \u{1f600} \u540d'],
    ['of 20000 characters', `${'x'.repeat(20_000)}.wav`, 'x'.repeat(20_000)],
  ].map(
    ([what, client_file_id, file_name]): Row => ({
      section: 'registerFile',
      sentence: `echoes a client_file_id ${what}`,
      check: async ({ post }) => {
        const answer = await post('registerFile', register({ client_file_id }))
        const { registered_file } = await answered(answer, registerFileAnswerSchema)
        expect(registered_file).toMatchObject({ client_file_id, file_name })
      },
    }),
  ),
  {
    section: 'registerFileFromUrl',
    sentence: 'answers the same without an upload link',
    check: async ({ post }) => {
      const body = register({ source_url: 'https://example.com/a.wav', start: 0, end: 1.5 })
      const { registered_file } = await answered(
        await post('registerFileFromUrl', body),
        registerFileFromUrlAnswerSchema,
      )
      expect(registered_file).not.toHaveProperty('file_upload_link')
    },
  },
  invalid('registerFile', 'refuses an unknown property', 'registerFile', register({ more: 1 })),
  invalid('registerFile', 'refuses a number sent as a text', 'registerFile', register({ start: '1' })),
  invalid('registerFile', 'refuses a client_file_id that is no text', 'registerFile', register({ client_file_id: 1 })),
  invalid(
    'registerFileFromUrl',
    'refuses a source_url that is no URI',
    'registerFileFromUrl',
    register({ source_url: 'x' }),
  ),
  invalid('startProcess', 'refuses another model', 'startProcess', start({ model: 'other' })),
  invalid('startProcess', 'refuses an unknown option', 'startProcess', start({ more: 1 })),
  invalid(
    'startProcess',
    'refuses a secret of 1001 characters',
    'startProcess',
    start({ webhook_secret: 'x'.repeat(1001) }),
  ),
  invalid('startProcess', 'refuses an unknown output type', 'startProcess', start({ output_type: 'wma' })),
  invalid('startProcess', 'refuses a webhook that is no boolean', 'startProcess', start({ webhook: 'yes' })),
  invalid('getFilesStatus', 'refuses an empty list', 'getFilesStatus', { fileIds: [] }),
  invalid('getFilesStatus', 'refuses 101 ids', 'getFilesStatus', { fileIds: Array(101).fill('x') }),
  invalid('getFilesStatus', 'refuses an empty id', 'getFilesStatus', { fileIds: [''] }),
  invalid('getOutputFileUrl', 'takes fileId, not file_id', 'getOutputFileUrl', { file_id: 'x' }),
  {
    section: 'startProcess',
    sentence: 'an unknown file is a 404 with an operation message, a secret of 1000 characters is taken',
    check: async ({ post }) => refused(await post('startProcess', start({ webhook_secret: 'x'.repeat(1000) })), 404),
  },
  {
    section: 'getOutputFileUrl',
    sentence: 'an unknown file is a 404 with an operation message',
    check: async ({ post }) => refused(await post('getOutputFileUrl', { fileId: 'x' }), 404),
  },
  {
    section: 'getFilesStatus',
    sentence: 'takes 100 ids and answers in their order; an unknown one is NotFound, -11, progress 0',
    check: async ({ post }) => {
      const fileIds = Array.from({ length: 100 }, (_, index) => `unknown-${index}`)
      const entries = await answered(await post('getFilesStatus', { fileIds }), getFilesStatusAnswerSchema)
      expect(entries).toEqual(fileIds.map((id) => ({ id, status: 'NotFound', errorCode: -11, progress: 0 })))
    },
  },
]
