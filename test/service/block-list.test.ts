import { readdir, readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../src/core/logger.js'
import { serviceSettingsSchema } from '../../src/service/service-settings.js'
import { localStorage } from '../../src/service/storage/local-storage.js'
import { freshFolder } from './support/with-service.js'

const FILE_ID = '00000000-0000-4000-8000-000000000000'

/** The contents of incomplete files beside the input. */
async function partsOf(dataDir: string): Promise<string[]> {
  const folder = join(dataDir, 'files', FILE_ID.slice(0, 2), FILE_ID)
  const names = await readdir(folder).catch(() => [])
  return Promise.all(
    names.filter((name) => name.startsWith('.part-')).map((name) => readFile(join(folder, name), 'utf8')),
  )
}

/** A storage that takes uploads of one file, over HTTP. */
async function openedStorage(dataDir: string, mayUpload: () => Promise<boolean>) {
  const { links } = serviceSettingsSchema.parse({})
  const storage = localStorage({ dataDir, linkSecret: 'secret', links, mayUpload, logger: silentLogger })
  await new Promise<void>((resolve) => storage.server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => storage.close())
  storage.publishAt(`http://127.0.0.1:${(storage.server.address() as AddressInfo).port}`)
  const { url } = await storage.uploadLink(FILE_ID)
  return {
    put: async (query: string, body: string, headers: Record<string, string> = {}) =>
      (await fetch(`${url}${query}`, { method: 'PUT', body, headers })).status,
    input: () => readFile(join(dataDir, 'files', FILE_ID.slice(0, 2), FILE_ID, 'input'), 'utf8'),
  }
}

it('a list of blocks replaces no input of a file that was started while they were joined', async () => {
  const dataDir = await freshFolder()
  // Asked when the list comes, and once more when its blocks are joined.
  let answers: boolean[] = []
  const parts: string[][] = []
  const mayUpload = async () => {
    parts.push(await partsOf(dataDir))
    return answers.shift() ?? true
  }
  const { put, input } = await openedStorage(dataDir, mayUpload)
  const list = '<BlockList><Latest>YQ==</Latest></BlockList>'

  expect(await put('', 'first', { 'x-ms-blob-type': 'BlockBlob' })).toBe(201)
  expect(await put('&comp=block&blockid=YQ==', 'second')).toBe(201)
  answers = [true, false]
  expect(await put('&comp=blocklist', list)).toBe(409)
  expect(await input()).toBe('first')
  // It is asked when nothing is left to write: flushing a large file takes seconds, in which it can be started.
  expect(parts.at(-1)).toEqual(['second'])
  expect(await put('&comp=blocklist', list)).toBe(201)
  expect(await input()).toBe('second')
})

it.each([
  ['an entity', '<BlockList><Latest>YQ==</Latest><Latest>&a;</Latest></BlockList>'],
  ['an id that is not Base64', '<BlockList><Latest>YQ==</Latest><Latest>a block</Latest></BlockList>'],
  ['an empty id', '<BlockList><Latest>YQ==</Latest><Latest></Latest></BlockList>'],
  ['an unknown element', '<BlockList><Latest>YQ==</Latest><Earliest>YQ==</Earliest></BlockList>'],
  ['a comment', '<BlockList><!-- <Latest>YQ==</Latest> --></BlockList>'],
  ['a type declaration', '<!DOCTYPE a [<!ENTITY a "YQ==">]><BlockList><Latest>YQ==</Latest></BlockList>'],
  ['an end that is missing', '<BlockList><Latest>YQ==</Latest>'],
  ['text around it', 'x<BlockList><Latest>YQ==</Latest></BlockList>'],
])('a list of blocks with %s is refused, so that no block is left out in silence', async (_name, list) => {
  const { put, input } = await openedStorage(await freshFolder(), async () => true)
  expect(await put('&comp=block&blockid=YQ==', 'block')).toBe(201)
  expect(await put('&comp=blocklist', list)).toBe(400)
  await expect(input()).rejects.toThrow('ENOENT')
})

it.each([
  '<?xml version="1.0" encoding="utf-8"?><BlockList><Latest>YQ==</Latest></BlockList>',
  "\ufeff<?xml version='1.0' encoding='utf-8'?>\r\n<BlockList>\r\n\t<Uncommitted> YQ== </Uncommitted>\r\n</BlockList>\r\n",
])('a list of blocks may be written as %j', async (list) => {
  const { put, input } = await openedStorage(await freshFolder(), async () => true)
  expect(await put('&comp=block&blockid=YQ==', 'block')).toBe(201)
  expect(await put('&comp=blocklist', list)).toBe(201)
  expect(await input()).toBe('block')
})

it('a block is looked for among few others, however many an upload has', async () => {
  const dataDir = await freshFolder()
  const { put, input } = await openedStorage(dataDir, async () => true)
  const ids = Array.from({ length: 600 }, (_, nth) => btoa(String(nth)))
  for (const id of ids) expect(await put(`&comp=block&blockid=${encodeURIComponent(id)}`, id)).toBe(201)
  const blocks = join(dataDir, 'files', FILE_ID.slice(0, 2), FILE_ID, 'blocks')
  const folders = [blocks, ...(await readdir(blocks)).map((name) => join(blocks, name))]
  for (const folder of folders) expect((await readdir(folder)).length).toBeLessThanOrEqual(256)
  const list = `<BlockList>${ids.map((id) => `<Latest>${id}</Latest>`).join('')}</BlockList>`
  expect(await put('&comp=blocklist', list)).toBe(201)
  expect(await input()).toBe(ids.join(''))
})
