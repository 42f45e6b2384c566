import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import type { Fault } from '../helpers/fault-server.js'
import { errorOf, test } from './harness.js'

const SIZE = 600_000

describe('a page in place of a download', () => {
  test.for([{ 'content-type': 'text/html; charset=utf-8' }, {}])(
    'is a login page at another address, and the address is named without its query: %j',
    async (headers, { server, client, finished, dir }) => {
      const { fileId } = await finished(10)
      const portal = createServer((_, response) => void response.writeHead(200, headers).end('<!DOCTYPE html>Sign in'))
      await once(portal.listen(0, '127.0.0.1'), 'listening')
      onTestFinished(() => void portal.close())
      const address = `http://127.0.0.1:${(portal.address() as AddressInfo).port}/login`
      server.fail('download', { kind: 'redirect', location: `${address}?from=very-secret` }, Number.POSITIVE_INFINITY)
      const error = await errorOf(client.download(fileId, join(dir, 'out')))
      expect(error).toMatchObject({ code: 'ERR_BAD_ANSWER', exitCode: 4 })
      expect(error.message).toContain(`a web page instead of the file, from ${address}`)
      expect(error.message).not.toContain('very-secret')
      expect((await readdir(dir)).sort()).toEqual(['input-1.bin'])
    },
  )

  test.for([
    { body: '', named: 'an empty file' },
    { body: '<!-- gate --><body>Sign in</body>', named: 'text' },
    { body: '\ufeffAccess denied: é', named: 'text' },
    { body: { error: 'quota' }, named: 'text' },
  ])('is not text, nor nothing, whatever its type: %j', async ({ body, named }, { server, client, finished, dir }) => {
    const { fileId, content } = await finished(SIZE)
    const headers = { 'content-type': 'application/octet-stream' }
    const gate: Fault = { kind: 'answer', headers, body }
    server.fail('download', gate, 2)
    await client.download(fileId, join(dir, 'out'))
    expect(content.equals(await readFile(join(dir, 'out')))).toBe(true)
    server.fail('download', gate, Number.POSITIVE_INFINITY)
    const error = await errorOf(client.download(fileId, join(dir, 'again')))
    expect(error).toMatchObject({ code: 'ERR_BAD_ANSWER', exitCode: 4 })
    expect(error.message).toContain(`${named} instead of the file`)
    expect((await readdir(dir)).sort()).toEqual(['input-1.bin', 'out'])
  })
})

describe('a part of another file', () => {
  test.for([
    ['"one"', '"another"'],
    ['W/"one"', 'W/"another"'],
  ] as const)(
    'that has replaced it is not joined to it, even by a storage without If-Range: %s',
    async ([one, another], { server, client, finished, dir }) => {
      const { fileId, content } = await finished(SIZE)
      await writeFile(join(dir, 'whole'), content)
      server.fail('download', { kind: 'file', path: join(dir, 'whole'), headers: { etag: one }, endByte: 100_000 })
      const headers = { etag: another, 'content-range': `bytes 100000-${SIZE - 1}/${SIZE}` }
      server.fail('download', { kind: 'answer', status: 206, headers, body: 'x'.repeat(SIZE - 100_000) })
      await client.download(fileId, join(dir, 'out'))
      expect(content.equals(await readFile(join(dir, 'out')))).toBe(true)
    },
  )
})
