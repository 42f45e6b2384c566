import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { regenerateHls } from 'voxmux/plugins/hls'
import { jobBench } from '../../helpers/job-bench.js'
import { ffmpeg } from '../../helpers/media-factory.js'
import { makePackage, type PackageMaking } from './made-package.js'

const bench = jobBench()
const SUCCEEDED = { status: 'Succeeded', errorCode: 0, progress: 100 } as const
const WITHOUT_VOICE = { status: 'Failed', errorCode: -3, progress: 0 } as const

beforeEach(() => {
  const env = { ...bench.server.env, VOXMUX_STATE_DIR: bench.folder.file('state') }
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  return () => void vi.unstubAllEnvs()
})

const out = () => bench.folder.file('out')
const packageOf = (durationSec: number, type: PackageMaking['type'] = 'mpegts') =>
  makePackage(bench.folder.file('in'), { type, durationSec, segmentSec: 1 })

/** Makes the second language of a package again. @param sound a source of ffmpeg */
async function makeSecond(master: string, sound: string, type: PackageMaking['type'] = 'mpegts'): Promise<void> {
  const folder = join(dirname(master), 'deu')
  await ffmpeg(
    ...['-f', 'lavfi', '-i', sound, '-c:a', 'aac', '-f', 'hls', '-hls_time', '1', '-hls_playlist_type', 'vod'],
    ...['-hls_segment_type', type, '-hls_segment_filename', join(folder, `part%03d.${type === 'fmp4' ? 'm4s' : 'ts'}`)],
    join(folder, 'stream.m3u8'),
  )
}

describe('a second language that the settings do not accept', () => {
  it('(5.1) is refused before the first is paid for', async () => {
    const master = await packageOf(2, 'fmp4')
    await makeSecond(master, 'sine=d=2,aformat=channel_layouts=5.1', 'fmp4')
    await expect(regenerateHls(master, out())).rejects.toMatchObject({
      ...{ code: 'ERR_TOO_MANY_CHANNELS', exitCode: 5 },
      message: expect.stringMatching(/^deu\/stream.m3u8: 6 channels/),
    })
    expect(bench.server.calls.registerFile).toBe(0)
    // The init section stays, and says how many channels each frame has.
    await expect(regenerateHls(master, out(), { job: { channels: 'downmix' } })).rejects.toMatchObject({
      ...{ code: 'ERR_NO_DOWNMIX', exitCode: 2 },
      message: expect.stringMatching(/^deu\/stream.m3u8 states 6 channels/),
    })
    expect(bench.server.calls.registerFile).toBe(0)
  })

  it('(shorter than a segment of the job) is refused before the first is paid for', async () => {
    const master = await packageOf(4)
    await makeSecond(master, 'sine=d=2')
    const job = { segments: [{ startSec: 3, endSec: null }] }
    await expect(regenerateHls(master, out(), { job })).rejects.toMatchObject({ code: 'ERR_SEGMENT_OUTSIDE' })
    expect(bench.server.calls.registerFile).toBe(0)
    await makeSecond(master, 'sine=d=4')
    expect((await regenerateHls(master, out(), { job })).renditions).toHaveLength(2)
  })
})

it('a job with a setting that does not exist is refused as such', async () => {
  const job = { chanels: 'each' } as object
  await expect(regenerateHls(await packageOf(2), out(), { job })).rejects.toMatchObject({ code: 'ERR_JOB_REQUEST' })
})

describe('a language in which the service finds no voice', () => {
  it('stays byte for byte, and the other is published', async () => {
    const master = await packageOf(2)
    const { server } = bench
    server.behaviour.states = ({ id }) => [id === server.files[0]?.id ? SUCCEEDED : WITHOUT_VOICE]
    const { files } = await regenerateHls(master, out(), { job: { preset: 'transparent' } })
    const fates = Object.fromEntries(files.map(({ path, fate }) => [path, fate]))
    expect(fates).toMatchObject({ 'eng/part000.ts': 'regenerated', 'deu/part000.ts': 'copied' })
    const second = 'deu/part001.ts'
    expect(await readFile(join(out(), second))).toEqual(await readFile(join(dirname(master), second)))
  })

  it('is not added as clear dialogue', async () => {
    const master = await packageOf(2)
    const { server } = bench
    server.behaviour.states = ({ id }) => [id === server.files[0]?.id ? SUCCEEDED : WITHOUT_VOICE]
    const { files } = await regenerateHls(master, out(), { addTrack: true, job: { preset: 'transparent' } })
    const added = files.flatMap(({ path, fate }) => (fate === 'added' ? [dirname(path)] : []))
    expect(new Set(added)).toEqual(new Set(['clear-dialogue/eng']))
    expect(await readdir(join(out(), 'clear-dialogue'))).toEqual(['eng'])
    expect(await readFile(join(out(), 'master.m3u8'), 'utf8')).not.toContain('clear-dialogue/deu')
  })

  it('is refused if no other has one: a copy is not published as regenerated', async () => {
    const master = await packageOf(2)
    bench.server.behaviour.states = [WITHOUT_VOICE]
    await expect(regenerateHls(master, out())).rejects.toMatchObject({ code: 'ERR_FILE_FAILED', errorCode: -3 })
    expect(existsSync(out())).toBe(false)
  })
})
