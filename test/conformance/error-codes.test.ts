import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FILE_ERROR_CODES, type FileErrorCode, fileErrorInfo } from '../../src/contract/index.js'
import { type FileEngine, openPortal, type ServiceOptions } from '../../src/service/index.js'
import { ffmpeg } from '../helpers/media-factory.js'
import { type ApiClient, apiClient } from '../service/support/api-client.js'
import { freshFolder, withService } from '../service/support/with-service.js'

type Fixture =
  | 'text.mp4'
  | 'silence.wav'
  | 'surround.wav'
  | 'two-tracks.mkv'
  | 'blip.mp4'
  | 'no-audio.mp4'
  | 'speech.wav'

/** How a code comes about: a real file, and where the defaults let it pass, what the service is set to. */
interface Cause {
  readonly errorCode: FileErrorCode
  readonly why: string
  readonly file?: Fixture | (() => Promise<Uint8Array>)
  readonly options?: Partial<ServiceOptions>
  /** Where it is not enough to upload and start. @returns id of the file */
  readonly bring?: (client: ApiClient, dataDir: string) => Promise<string>
}

const fixture = (name: Fixture) => readFile(new URL(`../../fixtures/${name}`, import.meta.url))

async function uploaded(client: ApiClient, bytes: Uint8Array): Promise<string> {
  const { file_id, file_upload_link } = await client.register('file.bin')
  await client.upload(file_upload_link, bytes)
  await client.start(file_id)
  return file_id
}

/** An MP4 whose edit list plays the sound at double speed. */
async function doubleSpeed(): Promise<Uint8Array> {
  const path = join(await freshFolder(), 'fast.mp4')
  await ffmpeg('-f', 'lavfi', '-i', 'sine=duration=1', '-c:a', 'aac', path)
  const bytes = await readFile(path)
  bytes.writeUInt32BE(0x2_0000, bytes.indexOf('elst') + 20)
  return bytes
}

async function someSeconds(): Promise<Uint8Array> {
  const path = join(await freshFolder(), 'long.wav')
  await ffmpeg('-f', 'lavfi', '-i', 'sine=sample_rate=48000:duration=20', '-c:a', 'pcm_u8', path)
  return readFile(path)
}

const crashing = async (): Promise<FileEngine> => ({ processFile: () => Promise.reject(new Error('crashed')) })
const hanging = async (): Promise<FileEngine> => ({
  processFile: ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
})

const CAUSES: readonly Cause[] = [
  { errorCode: -1, why: 'the engine fails each time', options: { engine: crashing } },
  { errorCode: -2, why: 'text', file: 'text.mp4' },
  { errorCode: -3, why: 'silence', file: 'silence.wav' },
  { errorCode: -4, why: 'surround sound', file: 'surround.wav' },
  { errorCode: -5, why: 'a rate above the limit', options: { limits: { maxSampleRate: 8000 } } },
  { errorCode: -6, why: 'a rate below the limit', options: { limits: { minSampleRate: 96_000 } } },
  { errorCode: -7, why: 'another codec than those taken', options: { limits: { codecs: ['aac'] } } },
  { errorCode: -8, why: 'two audio tracks', file: 'two-tracks.mkv' },
  { errorCode: -9, why: 'an edit list that plays the sound at double speed', file: doubleSpeed },
  {
    errorCode: -10,
    why: 'no credits left',
    // Decoding stops at the credits, but not before the file is known to be long enough.
    options: { limits: { minDurationSec: 19 } },
    async bring(client, dataDir) {
      const portal = await openPortal({ dataDir })
      await portal.accounts.setCredits((await portal.accounts.ensure('local')).id, 0)
      await portal.close()
      return uploaded(client, await someSeconds())
    },
  },
  { errorCode: -11, why: 'an id that nobody registered', bring: async () => crypto.randomUUID() },
  {
    errorCode: -12,
    why: 'an engine that takes too long',
    options: { engine: hanging, settings: { work: { timeoutMs: 500 } } },
  },
  { errorCode: -13, why: 'a size above the limit', options: { limits: { maxSizeBytes: 1000 } } },
  { errorCode: -14, why: 'a blink of sound', file: 'blip.mp4' },
  { errorCode: -15, why: 'a length above the limit', options: { limits: { maxDurationSec: 0.5 } } },
  { errorCode: -16, why: 'another container than those taken', options: { limits: { containers: ['mp4'] } } },
  {
    errorCode: -17,
    why: 'an address that is not public',
    async bring(client) {
      const id = await client.registerUrl('a.wav', 'http://127.0.0.1:9/a.wav')
      await client.start(id)
      return id
    },
  },
  { errorCode: -18, why: 'a film without sound', file: 'no-audio.mp4' },
]

describe('every file error code comes about', () => {
  it('and none is missing here', () => {
    expect([0, ...CAUSES.map(({ errorCode }) => errorCode)]).toEqual(FILE_ERROR_CODES)
  })

  it.each(CAUSES.map((cause) => ({ ...cause, name: fileErrorInfo(cause.errorCode).name })))(
    '$errorCode $name: $why',
    async ({ errorCode, file = 'speech.wav', options, bring }) => {
      const service = await withService(options)
      const client = await apiClient(service)
      const bytes = async () => (typeof file === 'string' ? fixture(file) : file())
      const id = bring ? await bring(client, service.dataDir) : await uploaded(client, await bytes())
      const entry = errorCode === -11 ? (await client.status(id))[0] : await client.ended(id)
      const status = errorCode === -11 ? 'NotFound' : 'Failed'
      expect(entry).toMatchObject({ id, status, errorCode })
    },
  )
})
