import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect } from 'vitest'
import type { Logger } from '../../src/core/logger.js'
import type { Fault, FaultOperation } from '../helpers/fault-server.js'
import { errorOf, test } from './harness.js'

const FAULTS: Fault[] = [
  { kind: 'status', status: 400 },
  { kind: 'status', status: 401 },
  { kind: 'status', status: 403 },
  { kind: 'status', status: 500 },
  { kind: 'reset' },
  { kind: 'garbage' },
  { kind: 'wrong-shape' },
]

describe('secrets', () => {
  test.for(FAULTS)(
    'stand in no error and no log line, causes included: %j',
    async (fault, { server, connect, file, dir }) => {
      const lines: string[] = []
      const log = (fields: object, message: string) => void lines.push(`${message} ${inspect(fields, { depth: 20 })}`)
      const logger: Logger = { debug: log, info: log, warn: log, error: log }
      const client = connect({ logger })
      const { path } = await file(10)
      const registered = await client.registerAndUpload({ clientFileId: 'a' }, path)
      const fileId = registered.file_id
      await client.startOnce(fileId)
      await client.waitFor(fileId)
      const link = await client.getOutputFileUrl(fileId)
      const token = String(server.requestsOf('startProcess')[0]?.headers.authorization).replace('Bearer ', '')
      const signature = (url: string) => new URL(url).searchParams.get('sig') ?? ''
      const secrets = [
        server.clientOptions.clientSecret,
        token,
        signature(registered.file_upload_link),
        signature(link.url),
      ]
      const echoing = (words: string): Fault => (fault.kind === 'status' ? { ...fault, message: words } : fault)
      const errors: Error[] = []
      const attempt = async (operation: FaultOperation, words: string, work: () => Promise<unknown>) => {
        server.fail(operation, echoing(words), Number.POSITIVE_INFINITY)
        errors.push(await errorOf(work()))
        server.heal()
      }
      const knownToService = `refused: ${secrets[0]} ${token} client_secret=abcdef Bearer abc.def ${link.url}`
      await attempt('getOutputFileUrl', knownToService, () => client.getOutputFileUrl(fileId))
      await attempt('startProcess', knownToService, () => client.startProcess(fileId))
      // Storage is told of no secret but its links; a 200 of another body is a file like any other to it.
      if (fault.kind === 'status' || fault.kind === 'reset') {
        await attempt('download', `no: ${link.url}`, () => client.download(fileId, join(dir, 'out')))
        const uploadLink = registered.file_upload_link
        await attempt('upload', `no: ${uploadLink}`, () => client.upload(registered, path))
      }
      server.revokeTokens()
      await attempt('token', knownToService, () => client.getFilesStatus([fileId]))
      const said = [
        ...errors.map((error) => `${error.stack} ${inspect(error, { depth: 20, showHidden: true })}`),
        ...lines,
      ]
      for (const text of said) {
        for (const secret of [...secrets, 'abcdef', 'abc.def']) expect(text).not.toContain(secret)
      }
      expect(errors.length).toBeGreaterThanOrEqual(3)
    },
  )

  test('a wrong one is not repeated by the error although the provider does', async ({ connect }) => {
    const error = await errorOf(connect({ clientSecret: 'mistyped-secret' }).getFilesStatus(['a']))
    expect(error.code).toBe('ERR_AUTH_FAILED')
    expect(error.message).toContain('[redacted]')
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain('mistyped-secret')
  })

  test('one that is an ordinary word is masked as a word, and left in longer ones', async ({ server, connect }) => {
    server.fail('token', { kind: 'status', status: 400, message: 'No profile of that name accepts file, said file2' })
    const error = await errorOf(connect({ clientSecret: 'file' }).getFilesStatus(['a']))
    expect(error.message).toContain('No profile of that name accepts [redacted], said file2')
  })

  test('one that is an ordinary word is masked behind an escape', async ({ server, connect }) => {
    const message = 'Wrong form: client_id%3Done%26client_secret%3Dhunter%26x%3D1, or %3dhunter, a\\nhunter'
    server.fail('token', { kind: 'status', status: 400, message })
    const error = await errorOf(connect({ clientSecret: 'hunter' }).getFilesStatus(['a']))
    expect(error.message).toContain('client_secret%3D[redacted]%26x%3D1, or %3d[redacted], a\\n[redacted]')
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain('hunter')
  })
})
