import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { probe } from '../../src/media/index.js'
import { openPortal } from '../../src/service/index.js'
import { type ApiClient, apiClient } from './support/api-client.js'
import { plainEngine } from './support/engines.js'
import { freshFolder, withService } from './support/with-service.js'

const fixture = (name: string) => readFile(new URL(`../../fixtures/${name}`, import.meta.url))

async function processed(client: ApiClient, name: string, part = {}, options = {}) {
  const { file_id, file_upload_link } = await client.register(name, part)
  await client.upload(file_upload_link, await fixture(name))
  await client.start(file_id, options)
  return client.ended(file_id)
}

/** What came back, as ffprobe sees it. */
async function output(client: ApiClient, fileId: string) {
  const answer = await fetch((await client.outputUrl(fileId)).url)
  const path = join(await freshFolder(), 'output')
  await writeFile(path, Buffer.from(await answer.arrayBuffer()))
  return { media: await probe(path), type: answer.headers.get('content-type') }
}

describe('the service with its own engine', () => {
  it('gives video as video, audio in its own format or another, a part alone, and Matroska with sound as .mka', async () => {
    const client = await apiClient(await withService())
    const film = await processed(client, 'phone.mp4')
    expect(film).toMatchObject({ status: 'Succeeded', progress: 100 })
    const { media, type } = await output(client, film.id)
    expect([media.container, type]).toEqual(['mp4', 'video/mp4'])
    expect(media.streams.some(({ kind }) => kind === 'video')).toBe(true)

    const voice = await processed(client, 'speech.flac')
    expect((await output(client, voice.id)).media.container).toBe('flac')

    const part = await processed(client, 'speech.wav', { start: 0.5, end: 1.5 }, { output_type: 'mp3' })
    const cut = await output(client, part.id)
    expect([cut.media.container, cut.type]).toEqual(['mp3', 'audio/mpeg'])
    expect(cut.media.durationSec).toBeCloseTo(1, 1)

    const { file_id, file_upload_link } = await client.register('voice.mkv')
    const sound = ['-i', fixturePath('speech.wav'), '-t', '1', '-c:a', 'flac', '-f', 'matroska']
    await client.upload(file_upload_link, ffmpegBytes(...sound))
    await client.start(file_id)
    expect((await client.ended(file_id)).errorCode).toBe(0)
    const answer = await fetch((await client.outputUrl(file_id)).url, { method: 'HEAD' })
    expect(answer.headers.get('content-type')).toBe('audio/x-matroska')
    expect(answer.headers.get('content-disposition')).toContain('filename="voice.mka"')
  }, 180_000)

  it('publishes its limits', async () => {
    const limits = { maxSampleRate: 48_000, containers: ['wav'] }
    const service = await withService({ limits })
    expect(await (await fetch(`${service.baseUrl}/api/v1/limits`)).json()).toEqual(limits)
  })

  it('takes credits for what it processed, once, and ends with -10 when they are used up', async () => {
    const service = await withService()
    const client = await apiClient(service)
    const portal = await openPortal({ dataDir: service.dataDir })
    const user = await portal.accounts.ensure('local')
    const credits = async () => (await portal.accounts.byId(user.id))?.creditsSec
    await portal.accounts.setCredits(user.id, 3)
    expect((await processed(client, 'speech.wav', { end: 2 })).status).toBe('Succeeded')
    expect(await credits()).toBeCloseTo(1, 5)
    expect(await processed(client, 'speech.wav', { end: 2 })).toMatchObject({ status: 'Failed', errorCode: -10 })
    expect((await processed(client, 'surround.wav', { end: 0.5 })).errorCode).toBe(-4)
    expect(await credits()).toBeCloseTo(1, 5)
    await portal.accounts.setCredits(user.id, null)
    expect((await processed(client, 'speech.wav', { end: 2 })).status).toBe('Succeeded')
    await portal.close()
  })

  it('ends with -10 for a file that is longer than the credits by less than a packet', async () => {
    const service = await withService({ engine: plainEngine })
    const client = await apiClient(service)
    const portal = await openPortal({ dataDir: service.dataDir })
    onTestFinished(() => portal.close())
    const user = await portal.accounts.ensure('local')
    // A packet of the file ends 0.3 ms behind these seconds.
    await portal.accounts.setCredits(user.id, 0.213)
    expect(await processed(client, 'speech.wav', {})).toMatchObject({ status: 'Failed', errorCode: -10 })
  })

  it('pays and limits what was decoded, whatever the header says, and starts again after a top-up', async () => {
    const service = await withService({ engine: plainEngine, limits: { maxDurationSec: 4, minDurationSec: 0.1 } })
    const client = await apiClient(service)
    const portal = await openPortal({ dataDir: service.dataDir })
    onTestFinished(() => portal.close())
    const { id: userId } = await portal.accounts.ensure('local')
    const ended = async (bytes: Buffer, part = {}) => {
      const { file_id, file_upload_link } = await client.register('voice', part)
      await client.upload(file_upload_link, bytes)
      await client.start(file_id)
      return client.ended(file_id)
    }
    /** Error code and credits used. */
    const outcome = async (bytes: Buffer, part = {}) => {
      await portal.accounts.setCredits(userId, 10)
      const { errorCode } = await ended(bytes, part)
      return [errorCode, Math.round((10 - ((await portal.accounts.byId(userId))?.creditsSec ?? 0)) * 1000)]
    }
    const noise = (sec: number) => ['-f', 'lavfi', '-i', `anoisesrc=r=48000:d=${sec}:a=0.1`]
    const piped = ffmpegBytes(...noise(3), '-f', 'flac')
    expect(await outcome(piped)).toEqual([0, 3000])
    expect(await outcome(ffmpegBytes(...noise(3), '-c:a', 'libopus', '-f', 'webm', '-live', '1'))).toEqual([
      0,
      expect.closeTo(3000, -2),
    ])
    expect(await outcome(piped, { start: 0.5, end: 1.75 })).toEqual([0, 1250])
    // A part beyond the end is not filled up with silence.
    expect(await outcome(piped, { start: 1, end: 1e6 })).toEqual([0, 2000])
    expect(await outcome(piped, { start: 3.5 })).toEqual([-14, 0])
    expect(await outcome(statedSec(piped, 0.5))).toEqual([0, 3000])
    expect(await outcome(statedSec(ffmpegBytes(...noise(5), '-f', 'flac'), 0.5))).toEqual([-15, 0])
    const hole = "asetpts='if(lt(N,24000),N,N+7200*48000)'"
    expect(await outcome(ffmpegBytes(...noise(1), '-af', hole, '-c:a', 'libopus', '-f', 'matroska'))).toEqual([-2, 0])

    await portal.accounts.setCredits(userId, 2.9)
    const poor = await ended(piped)
    expect(poor.errorCode).toBe(-10)
    await portal.accounts.setCredits(userId, 4)
    expect(await client.start(poor.id)).toMatchObject({ error: null })
    await client.start(poor.id)
    expect(await client.ended(poor.id)).toMatchObject({ status: 'Succeeded', errorCode: 0 })
    expect((await portal.accounts.byId(userId))?.creditsSec).toBe(1)
  })

  it('calls a file corrupted, in whatever words ffmpeg says so', async () => {
    const client = await apiClient(await withService({ engine: plainEngine }))
    const voice = await fixture('speech.wav')
    const channels = (count: number) => {
      const bytes = Buffer.from(voice)
      bytes.writeUInt16LE(count, bytes.indexOf('fmt ') + 10)
      return bytes
    }
    const opus = ffmpegBytes('-i', fixturePath('speech.wav'), '-c:a', 'libopus', '-f', 'matroska')
    const trackless = Buffer.from(opus.toString('latin1').replaceAll('\xd7\x81\x01', '\xd7\x81\x00'), 'latin1')
    for (const [wrong, bytes] of [
      ['65 535 channels', channels(65_535)],
      ['no channels', channels(0)],
      ['a playlist', Buffer.from('#EXTM3U\nhttp://127.0.0.1/a\n')],
      ['blocks of no track', trackless],
    ] as const) {
      const { file_id, file_upload_link } = await client.register('a.mp3')
      await client.upload(file_upload_link, bytes)
      await client.start(file_id)
      expect([wrong, (await client.ended(file_id)).errorCode]).toEqual([wrong, -2])
    }
  })
})

function fixturePath(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url))
}

/** What ffmpeg writes into a pipe: formats that are written in one go state no length. */
function ffmpegBytes(...args: string[]): Buffer {
  return execFileSync('ffmpeg', ['-v', 'error', '-nostdin', ...args, 'pipe:1'], { maxBuffer: 1 << 26 })
}

/** A FLAC whose header states another length: the low 32 of its 36 bits stand at byte 22. */
function statedSec(flac: Buffer, sec: number): Buffer {
  const bytes = Buffer.from(flac)
  bytes.writeUInt32BE(sec * 48_000, 22)
  return bytes
}
