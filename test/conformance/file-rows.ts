import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import {
  type FileProcessingStatus,
  getFilesStatusAnswerSchema,
  outputFileUrlSchema,
  outputTypeSchema,
  type RegisteredFile,
  registerFileAnswerSchema,
  startProcessAnswerSchema,
} from '../../src/contract/index.js'
import { answered, type Row, refused } from './row.js'
import type { Target } from './target.js'

async function registered({ post }: Target, fields: object = {}): Promise<RegisteredFile> {
  const body = { file_to_register: { client_file_id: 'speech.wav', ...fields } }
  return (await answered(await post('registerFile', body), registerFileAnswerSchema)).registered_file
}

function put(link: string, body: Uint8Array, headers: Record<string, string> = {}): Promise<Response> {
  const all = { 'content-type': 'application/octet-stream', 'x-ms-blob-type': 'BlockBlob', ...headers }
  return fetch(link, { method: 'PUT', headers: all, body })
}

async function started({ post }: Target, file_id: string, options: object = {}) {
  const body = { file_id, options: { model: 'regen_v1', ...options } }
  return answered(await post('startProcess', body), startProcessAnswerSchema)
}

/** Every status from the start to the end, as polled. */
async function followed({ post }: Target, id: string): Promise<FileProcessingStatus[]> {
  const seen: FileProcessingStatus[] = []
  for (;;) {
    const answer = await post('getFilesStatus', { fileIds: [id] })
    const [entry] = await answered(answer, getFilesStatusAnswerSchema)
    if (entry) seen.push(entry)
    if (entry?.status === 'Succeeded' || entry?.status === 'Failed') return seen
    await delay(100)
  }
}

async function processed(target: Target, part: object = {}, options: object = {}) {
  const file = await registered(target, part)
  expect((await put(file.file_upload_link, await target.voice())).ok).toBe(true)
  expect(await started(target, file.file_id, options)).toEqual({ file_id: file.file_id, error: null })
  const seen = await followed(target, file.file_id)
  expect(seen.at(-1)).toEqual({ id: file.file_id, status: 'Succeeded', errorCode: 0, progress: 100 })
  const link = await answered(await target.post('getOutputFileUrl', { fileId: file.file_id }), outputFileUrlSchema)
  return { file, seen, link }
}

/** Sentences that take a file through its life. */
export const FILE_ROWS: readonly Row[] = [
  {
    section: 'flow',
    sentence: 'register, upload, start, poll, download: no token at the links, progress never falls and ends at 100',
    check: async (target) => {
      const { seen, link } = await processed(target)
      const progress = seen.map((entry) => entry.progress)
      expect(progress).toEqual([...progress].sort((a, b) => a - b))
      expect(link.expiry).toBeGreaterThan(Date.now() / 1000)
      const answer = await fetch(link.url)
      expect(answer.status).toBe(200)
      expect(
        Buffer.from(await answer.arrayBuffer())
          .subarray(0, 4)
          .toString(),
      ).toMatch(/RIFF|RF64/)
    },
  },
  {
    section: 'flow',
    sentence: 'the links lie at another address than the service',
    check: async (target) => {
      const { file_upload_link } = await registered(target)
      expect(file_upload_link.startsWith(target.baseUrl)).toBe(false)
    },
  },
  {
    section: 'upload',
    sentence: 'needs the block type in its header',
    check: async (target) => {
      const { file_upload_link } = await registered(target)
      expect((await put(file_upload_link, Buffer.from('x'), { 'x-ms-blob-type': '' })).ok).toBe(false)
    },
  },
  {
    section: 'startProcess',
    sentence: 'before the upload: 200 with an error of 409',
    check: async (target) => {
      const { file_id } = await registered(target)
      expect((await started(target, file_id)).error?.code).toBe(409)
    },
  },
  {
    section: 'startProcess',
    sentence: 'again: 200, null, and nothing is done twice',
    check: async (target) => {
      const { file } = await processed(target, { end: 1 })
      expect((await started(target, file.file_id)).error).toBeNull()
      expect((await followed(target, file.file_id)).map(({ status }) => status)).toEqual(['Succeeded'])
    },
  },
  {
    section: 'getOutputFileUrl',
    sentence: 'before the file has succeeded: 404',
    check: async (target) => {
      const { file_id } = await registered(target)
      await refused(await target.post('getOutputFileUrl', { fileId: file_id }), 404)
    },
  },
  {
    section: 'getOutputFileUrl',
    sentence: 'however long the client_file_id, the output can be fetched',
    check: async (target) => {
      const { link } = await processed(target, { client_file_id: `${'\u540d'.repeat(7000)}.wav`, end: 1 })
      const answer = await fetch(link.url)
      expect([answer.status, (await answer.arrayBuffer()).byteLength > 1000]).toEqual([200, true])
    },
  },
  {
    section: 'states',
    sentence: 'a file that is no media fails with -2, and has no output',
    check: async (target) => {
      const file = await registered(target)
      await put(file.file_upload_link, Buffer.from('this is text'))
      await started(target, file.file_id)
      expect((await followed(target, file.file_id)).at(-1)).toMatchObject({ status: 'Failed', errorCode: -2 })
      await refused(await target.post('getOutputFileUrl', { fileId: file.file_id }), 404)
    },
  },
  {
    section: 'registerFile',
    sentence: 'a part that begins beyond the file fails with -14',
    check: async (target) => {
      const file = await registered(target, { start: 3600 })
      await put(file.file_upload_link, await target.voice())
      await started(target, file.file_id)
      expect((await followed(target, file.file_id)).at(-1)).toMatchObject({ status: 'Failed', errorCode: -14 })
    },
  },
  ...outputTypeSchema.options.map(
    (output_type): Row => ({
      section: 'startProcess',
      sentence: `output_type ${output_type} gives an output`,
      check: async (target) => {
        const { link } = await processed(target, { start: 0, end: 1 }, { output_type })
        expect((await (await fetch(link.url)).arrayBuffer()).byteLength).toBeGreaterThan(1000)
      },
    }),
  ),
]
