import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { buildSync } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import fc from '../../helpers/properties.js'

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'voxmux-stand-in-'))
afterAll(() => rmSync(folder, { recursive: true }))

interface Reads {
  safeParse(value: unknown): { readonly success: boolean; readonly data?: unknown }
}
type Contract = Readonly<Record<string, Reads>>
let [contract, standIn]: [Contract, Contract] = [{}, {}]

beforeAll(async () => {
  const outfile = join(folder, 'contract.mjs')
  const alias = { zod: at('plugins/n8n/stand-ins/zod.ts') }
  buildSync({ entryPoints: [at('src/contract/index.ts')], bundle: true, format: 'esm', outfile, alias })
  standIn = await import(pathToFileURL(outfile).href)
  contract = (await import('../../../src/contract/index.js')) as unknown as Contract
})

/** Valid values of the schemas whose names end in `Schema`. */
const GOOD: Readonly<Record<string, object>> = {
  pingAnswerSchema: { status: 'ok' },
  registerFileAnswerSchema: {
    registered_file: {
      ...{ file_id: 'f', client_file_id: 'c', file_name: 'talk', success: true, error_code: 0 },
      ...{ file_upload_link: 'https://storage.example/f?sig=1', file_upload_expiry: 1_800_000_000 },
    },
  },
  startProcessAnswerSchema: { file_id: 'f', error: { code: 409, message: 'started' } },
  getFilesStatusAnswerSchema: [{ id: 'f', status: 'InProgress', errorCode: 0, progress: 12.5 }],
  outputFileUrlSchema: { url: 'https://storage.example/o?sig=1', expiry: 1_800_000_000 },
  clientOutputFileUrlSchema: { url: 'https://storage.example/o?sig=1', expiry: 1_800_000_000 },
  operationMessageSchema: { message: 'm', statusCode: 401, more: { is: 'kept' } },
  clientProcessOptionsSchema: { model: 'regen_v1', webhook: true, webhook_secret: 's', output_type: 'wav' },
  webhookBodySchema: {
    ...{ userId: 'u', type: 'status-updated', secret: 's' },
    message: { fileId: 'f', status: 'Processed', progress: 100, errorCode: -3 },
  },
  userFileSchema: {
    ...{ id: 'f', name: 'n', status: 's', updatedTimestamp: 1, createdTimestamp: 1, multi_speaker: false },
    ...{ inputWaveformLocation: null, outputWaveformLocation: 'x', inputFiles: [1] },
  },
}

/** A value with one of its parts replaced, removed or added. */
function spoiled(value: unknown, path: readonly number[], other: unknown): unknown {
  const [first, ...rest] = path
  if (first === undefined || typeof value !== 'object' || value === null) return other
  const keys = Object.keys(value)
  const key = keys[first % (keys.length + 1)] ?? 'foreign'
  const copy: Record<string, unknown> = Array.isArray(value) ? ([...value] as never) : { ...value }
  if (other === undefined && rest.length === 0) delete copy[key]
  else copy[key] = spoiled(copy[key], rest, other)
  return copy
}

describe('what stands in for zod in the bundles', () => {
  it.each(Object.keys(GOOD))('reads %s as zod does', (name) => {
    const read = (schemas: Contract, value: unknown) => schemas[name]?.safeParse(value)
    expect(read(standIn, GOOD[name])).toEqual({ success: true, data: read(contract, GOOD[name])?.data })
    const others = [undefined, null, '', 'x', ' 7 ', 0, -1, 1.5, 1e300, Number.NaN, true, [], {}, ['x'], { id: 1 }, -18]
    const path = fc.array(fc.nat(12), { maxLength: 3 })
    fc.assert(
      fc.property(path, fc.constantFrom(...others), (where, other) => {
        const value = spoiled(GOOD[name], where, other)
        const [ours, theirs] = [read(standIn, value), read(contract, value)]
        expect([ours?.success, ours?.data]).toEqual([theirs?.success, theirs?.data])
      }),
      { numRuns: 200 },
    )
  })
})
