import { describe, expect, vi } from 'vitest'
import { AccessError, InterruptedError, type UsageError } from '../../src/core/errors.js'
import { errorOf, test } from './harness.js'

describe('the access token', () => {
  test('is asked for once by calls at the same time, and kept', async ({ server, client }) => {
    await Promise.all(Array.from({ length: 20 }, () => client.getFilesStatus(['a'])))
    await client.getFilesStatus(['a'])
    expect(server.calls.token).toBe(1)
    expect(server.requestsOf('token')[0]?.body).toEqual({
      client_id: server.clientOptions.clientId,
      client_secret: server.clientOptions.clientSecret,
      grant_type: 'client_credentials',
      scope: server.clientOptions.scope,
    })
  })

  test('is renewed early: after 80 to 90 % of its life', async ({ server, client }) => {
    server.behaviour.tokenLifetimeSec = 1000
    await client.getFilesStatus(['a'])
    const now = vi.spyOn(Date, 'now')
    const start = Date.now()
    try {
      now.mockReturnValue(start + 795_000)
      await client.getFilesStatus(['a'])
      expect(server.calls.token).toBe(1)
      now.mockReturnValue(start + 905_000)
      await client.getFilesStatus(['a'])
      expect(server.calls.token).toBe(2)
    } finally {
      now.mockRestore()
    }
  })

  test('is used to its end while the provider is down', async ({ server, client }) => {
    server.behaviour.tokenLifetimeSec = 1000
    await client.getFilesStatus(['a'])
    server.fail('token', { kind: 'status', status: 503 }, Number.POSITIVE_INFINITY)
    const start = Date.now()
    const now = vi.spyOn(Date, 'now')
    try {
      now.mockReturnValue(start + 950_000)
      await client.getFilesStatus(['a'])
      now.mockReturnValue(start + 1_001_000)
      expect((await errorOf(client.getFilesStatus(['a']))).code).toBe('ERR_SERVICE_BUSY')
    } finally {
      now.mockRestore()
    }
  })

  test.for(['a\r\nX-Evil: 1', 'a b', 'tök', ''])(
    'that no header can carry is named: %j',
    async (token, { server, client }) => {
      const body = { access_token: token, expires_in: 3599 }
      server.fail('token', { kind: 'answer', body }, Number.POSITIVE_INFINITY)
      const error = await errorOf(client.getFilesStatus(['a']))
      expect(error).toMatchObject({
        code: 'ERR_BAD_ANSWER',
        message: expect.stringContaining('to an access token (access_token'),
      })
      expect(server.calls.getFilesStatus).toBe(0)
    },
  )

  test('is read if the provider writes its life as text, after a byte order mark', async ({ server, client }) => {
    const { access_token } = (await (
      await fetch(`${server.clientOptions.authUrl}/tenant-1/oauth2/v2.0/token`, {
        method: 'POST',
        body: new URLSearchParams({
          client_id: server.clientOptions.clientId,
          client_secret: server.clientOptions.clientSecret,
          grant_type: 'client_credentials',
          scope: server.clientOptions.scope,
        }),
      })
    ).json()) as { access_token: string }
    const body = `\uFEFF${JSON.stringify({ access_token, expires_in: '3599', ext_expires_in: '3599' })}`
    server.fail('token', { kind: 'answer', body })
    server.fail('getFilesStatus', { kind: 'answer', body: '\uFEFF[{"id":"a","status":"Pending"}]' })
    expect(await client.getFilesStatus(['a'])).toEqual([{ id: 'a', status: 'Pending', errorCode: 0, progress: 0 }])
    await client.getFilesStatus(['a'])
    expect(server.calls.token).toBe(2)
  })

  test('without a life is refused with a sentence of its own', async ({ server, client }) => {
    server.fail('token', { kind: 'answer', body: { access_token: 'x', expires_in: 'soon' } }, Number.POSITIVE_INFINITY)
    const error = await errorOf(client.getFilesStatus(['a']))
    expect(error).toMatchObject({ code: 'ERR_BAD_ANSWER' })
    expect(error.message).toContain('it does not state the lifetime of the token in seconds')
  })

  test('is renewed exactly once on a 401, however many calls get one', async ({ server, client }) => {
    await client.getFilesStatus(['a'])
    server.revokeTokens()
    await Promise.all(Array.from({ length: 10 }, (_, index) => client.getFilesStatus([`id-${index}`])))
    expect(server.calls.token).toBe(2)
    expect(server.calls.getFilesStatus).toBe(21)
  })

  test('a second 401 in one call is final', async ({ server, client }) => {
    server.fail('getFilesStatus', { kind: 'status', status: 401 }, Number.POSITIVE_INFINITY)
    const error = await errorOf(client.getFilesStatus(['a']))
    expect(error).toBeInstanceOf(AccessError)
    expect(error).toMatchObject({ code: 'ERR_AUTH_FAILED', exitCode: 6 })
    expect(server.calls).toMatchObject({ token: 2, getFilesStatus: 2 })
  })

  test.for([
    [400, 'ERR_AUTH_FAILED', 1],
    [401, 'ERR_AUTH_FAILED', 1],
    [404, 'ERR_WRONG_ADDRESS', 1],
    [403, 'ERR_ACCESS_DENIED', 1],
    [425, 'ERR_SERVICE_BUSY', 4],
    [429, 'ERR_SERVICE_BUSY', 4],
    [500, 'ERR_SERVICE_BUSY', 4],
  ] as const)('a %i of the provider is %s', async ([status, code, calls], { server, client }) => {
    server.fail('token', { kind: 'status', status }, Number.POSITIVE_INFINITY)
    expect((await errorOf(client.getFilesStatus(['a']))).code).toBe(code)
    expect(server.calls.token).toBe(calls)
    expect(server.calls.getFilesStatus).toBe(0)
  })

  test('a 404 of the provider is not blamed on the secret', async ({ server, client }) => {
    server.fail('token', { kind: 'status', status: 404 }, Number.POSITIVE_INFINITY)
    const { exitCode, message, remedies } = (await errorOf(client.getFilesStatus(['a']))) as UsageError
    // As for a path that the service does not have.
    expect(exitCode).toBe(2)
    expect(message).toMatch(/issues no tokens at this address \(404\)\.$/)
    expect(remedies.join()).toMatch(/tenant id and address of the identity provider/)
    expect(remedies.join()).not.toContain('secret')
  })

  test('comes through every passing fault of the provider', async ({ server, client }) => {
    for (const kind of ['reset', 'garbage', 'wrong-shape'] as const) server.fail('token', { kind })
    expect(await client.getFilesStatus(['a'])).toHaveLength(1)
    expect(server.calls.token).toBe(4)
  })

  test('an abort ends one waiting, not that of the others', async ({ server, client }) => {
    server.fail('token', { kind: 'slow', delayMs: 100 })
    const stop = new AbortController()
    const aborted = errorOf(client.getFilesStatus(['a'], { signal: stop.signal }))
    const other = client.getFilesStatus(['b'])
    stop.abort()
    expect(await aborted).toBeInstanceOf(InterruptedError)
    expect(await other).toHaveLength(1)
    expect(server.calls.token).toBe(1)
  })
})
