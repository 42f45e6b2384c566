import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ERROR_CODES } from '../../docs/error-codes.js'
import { readSources } from '../helpers/import-graph.js'

/** Codes of Node and of packages that the code only compares with. */
const FOREIGN = [
  ...['ERR_MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED', 'ERR_HTTP_REQUEST_TIMEOUT', 'ERR_TLS_CERT', 'ERR_JOSE_GENERIC'],
  ...['ERR_CTP_INVALID_MEDIA_TYPE', 'ERR_INVALID_ARG_VALUE', 'ERR_INVALID_URL', 'ERR_SSL_'],
  ...['ERR_UNSUPPORTED_PROTOCOL', 'ERR_OUT_OF_RANGE', 'ERR_BUFFER_OUT_OF_BOUNDS'],
]

const root = fileURLToPath(new URL('../..', import.meta.url))
const sources = [...readSources(root, ['src', 'plugins'])]
  // Comments may name what they like.
  .map(([, text]) => text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''))

describe('the table of error codes', () => {
  it('holds every code in the code, and no other', () => {
    const used = new Set(sources.flatMap((text) => text.match(/\bERR_[A-Z0-9_]+/g) ?? []))
    for (const code of FOREIGN) used.delete(code)
    expect(Object.keys(ERROR_CODES)).toEqual([...used].sort())
  })

  it('names each class that is thrown with a code', () => {
    const thrown = sources.flatMap((text) => [...text.matchAll(/new (\w+Error)\(\s*'(ERR_[A-Z0-9_]+)'/g)])
    expect(thrown.length).toBeGreaterThan(100)
    const rows: Readonly<Record<string, readonly unknown[]>> = ERROR_CODES
    for (const [, name, code = ''] of thrown) expect([code, ...[rows[code]?.[0]].flat()]).toContain(name)
  })
})
