import { createHook } from 'node:async_hooks'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { findFfmpeg } from '../../../src/media/ffmpeg/binaries.js'
import { ffmpegArguments, runFfmpeg, streamFfmpeg } from '../../../src/media/ffmpeg/ffmpeg.js'
import { ffprobe } from '../../../src/media/ffmpeg/ffprobe.js'
import { fileUrl } from '../../../src/media/ffmpeg/input-safety.js'
import { useBareTools } from '../../helpers/loaded-tools/bare-tools.js'
import { ffmpeg, ffmpegOutput, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { until } from '../../helpers/until.js'

useBareTools()

const RAW = ['-f', 's16le', '-ar', '8000', '-ac', '1']

describe('ffmpeg', () => {
  const folder = folderOfTests()

  it('leaves nothing that keeps the process alive if ffmpeg has enough before its stream ends', async () => {
    const source = new Readable({ read() {} })
    source.push(Buffer.alloc(64_000))
    const output = { url: folder.file('enough.wav'), options: ['-t', '0.5', '-f', 'wav'] }
    await runFfmpeg({ inputs: [{ url: source, options: RAW }], outputs: [output] })
    const made: string[] = []
    const hook = createHook({ init: (_id, type) => made.push(type) }).enable()
    await setImmediate()
    hook.disable()
    expect(source.destroyed).toBe(true)
    expect(made).not.toContain('Timeout')
  })

  it('ends ffprobe at its limit of processor time, and blames the file', async () => {
    // Hours of sound: ffprobe works for longer than it takes to look at it, also on a fast machine.
    const [short, path] = [folder.file('short.m4a'), folder.file('long.m4a')]
    await ffmpeg(...tone(30, 48_000, 1), '-c:a', 'aac', short)
    await ffmpeg('-stream_loop', '700', '-i', short, '-c', 'copy', path)
    const run = ffprobe(path, ['-count_frames', '-show_streams'], z.unknown(), { mostProcessorSec: 0.1 })
    await expect(run).rejects.toMatchObject({ code: 'ERR_UNREADABLE', errorCode: -2 })
  })

  it('gives each argument as it is, spaces and all', () => {
    const args = ffmpegArguments({
      inputs: [{ url: fileUrl('/a b/c d.mov'), options: ['-metadata', 'x y'] }],
      filterComplex: '[0:a]volume=1 , anull[out]',
      outputs: [{ url: '/out put.wav', options: ['-metadata', 'title=one two', '-map', '[out]'] }],
    })
    expect(args).toEqual(expect.arrayContaining(['file:/a b/c d.mov', 'x y', '[0:a]volume=1 , anull[out]']))
    expect(args.slice(-4)).toEqual(['title=one two', '-map', '[out]', '/out put.wav'])
    expect(args).toContain('-nostdin')
  })

  it('reads a stream on stdin, writes a file and reports progress', async () => {
    const target = folder.file('from stdin.wav')
    const seconds: number[] = []
    const result = await runFfmpeg(
      {
        inputs: [{ url: Readable.from([Buffer.alloc(16_000), Buffer.alloc(16_000)]), options: RAW }],
        outputs: [{ url: target, options: ['-f', 'wav'] }],
      },
      { onProgressSec: (sec) => seconds.push(sec) },
    )
    expect(result.args).toContain('pipe:0')
    expect(result.args).not.toContain('-nostdin')
    expect((await stat(target)).size).toBeGreaterThan(32_000)
    expect(seconds.at(-1)).toBeCloseTo(2, 1)
  })

  it.skipIf(process.platform === 'win32')('names a disk that takes no file as large as the output', async () => {
    const tool = folder.file('limited-ffmpeg')
    const { path } = await findFfmpeg()
    await writeFile(tool, `#!/bin/sh\ntrap '' XFSZ\nulimit -f 8\nexec '${path}' "$@"\n`, { mode: 0o700 })
    vi.stubEnv('VOXMUX_FFMPEG', tool)
    onTestFinished(() => void vi.unstubAllEnvs())
    const output = { url: folder.file('large.wav'), options: ['-f', 'wav'] }
    const run = runFfmpeg({ inputs: [{ url: Readable.from([Buffer.alloc(64_000)]), options: RAW }], outputs: [output] })
    await expect(run).rejects.toMatchObject({ code: 'ERR_OUTPUT_TOO_LARGE', exitCode: 2 })
  })

  it('streams stdout', async () => {
    const { stdout, done } = streamFfmpeg({
      inputs: [{ url: 'anullsrc=r=8000:cl=mono', options: ['-f', 'lavfi', '-t', '1'] }],
      outputs: [{ url: 'pipe:1', options: ['-f', 's16le'] }],
    })
    const chunks = await stdout.toArray()
    expect(Buffer.concat(chunks as Buffer[]).length).toBe(16_000)
    await done
  })

  it('ends ffmpeg when the reader leaves early', async () => {
    const { stdout, done } = streamFfmpeg({
      inputs: [{ url: 'anullsrc=r=48000:cl=mono', options: ['-f', 'lavfi'] }],
      outputs: [{ url: 'pipe:1', options: ['-f', 's16le'] }],
    })
    for await (const _chunk of stdout) break
    await expect(done).resolves.toBeDefined()
  })

  it('is ended by an abort, with a typed error', async () => {
    const controller = new AbortController()
    const running = runFfmpeg(
      {
        inputs: [{ url: 'anullsrc=r=48000', options: ['-re', '-f', 'lavfi'] }],
        outputs: [{ url: folder.file('endless.wav'), options: ['-f', 'wav'] }],
      },
      { signal: controller.signal, onProgressSec: () => controller.abort() },
    )
    await expect(running).rejects.toMatchObject({ code: 'ERR_INTERRUPTED', exitCode: 130 })
  })

  it('is ended when it makes no progress though nobody keeps it waiting', async () => {
    // SIGSTOP is what a dead network share looks like: alive, and never a word.
    const running = runFfmpeg(
      {
        inputs: [{ url: 'anullsrc=r=48000', options: ['-re', '-f', 'lavfi'] }],
        outputs: [{ url: folder.file('stalled.wav'), options: ['-f', 'wav', '-stats_period', '60'] }],
      },
      { stallMs: 400 },
    )
    await expect(running).rejects.toMatchObject({ code: 'ERR_MEDIA_TIMEOUT', exitCode: 4 })
  })

  it('is not blamed for an hour in which the computer slept or its clock was set', async () => {
    const path = folder.file('slept.wav')
    const running = runFfmpeg(
      {
        inputs: [{ url: 'anullsrc=r=48000', options: ['-re', '-f', 'lavfi'] }],
        outputs: [{ url: path, options: ['-t', '2.5', '-f', 'wav', '-stats_period', '60'] }],
      },
      { stallMs: 8000 },
    )
    let nowMs = Date.now()
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => {
      nowMs += 3_600_000
      return nowMs
    })
    await running.finally(() => clock.mockRestore())
    expect((await stat(path)).size).toBeGreaterThan(2 * 48_000)
  })

  it('hands on the error of the stream that feeds it, and leaves no ffmpeg that waits for more', async () => {
    const source = new Readable({ read() {} })
    source.push(Buffer.alloc(200_000))
    const running = runFfmpeg({
      inputs: [{ url: source, options: RAW }],
      outputs: [{ url: folder.file('broken.wav'), options: ['-f', 'wav'] }],
    })
    await until(async () => (await bytesRead(await children())) >= 200_000)
    source.destroy(new Error('the source broke'))
    await expect(running).rejects.toThrow('the source broke')
    expect(await children()).toBe('')
  })

  it('asks for no bytes before it has written the last ones', async () => {
    const room = Buffer.alloc(300_000)
    const source = async function* () {
      for (let value = 1; value <= 20; value++) yield room.fill(value)
    }
    const path = folder.file('one buffer.raw')
    await runFfmpeg({
      inputs: [{ url: source(), options: RAW }],
      outputs: [{ url: path, options: ['-c', 'copy', '-f', 's16le'] }],
    })
    const wanted = Buffer.concat(Array.from({ length: 20 }, (_, place) => Buffer.alloc(300_000, place + 1)))
    expect((await readFile(path)).equals(wanted)).toBe(true)
  })

  it('hands on the error of a stream that broke before ffmpeg started', async () => {
    const source = new Readable({ read() {} })
    source.destroy(new Error('the source broke early'))
    const outputs = [{ url: folder.file('early.wav'), options: ['-f', 'wav'] }]
    await expect(runFfmpeg({ inputs: [{ url: source, options: RAW }], outputs })).rejects.toThrow('broke early')
  })

  it.each([
    ['a full disk', '/dev/full', '5', 'ERR_DISK_FULL', 4],
    // ffmpeg 5.1 ends with 0 if all that it could not write is its last bytes.
    ['a disk that is full at the end of a short file', '/dev/full', '0.1', 'ERR_DISK_FULL', 4],
    ['a folder without permission', '/proc/nowhere/x.wav', '5', 'ERR_FFMPEG_FAILED', 1],
  ])('names %s', async (_what, url, lengthSec, code, exitCode) => {
    const running = runFfmpeg({
      inputs: [{ url: 'anullsrc=r=48000', options: ['-f', 'lavfi', '-t', lengthSec] }],
      outputs: [{ url, options: ['-f', 'wav'] }],
    })
    await expect(running).rejects.toMatchObject({ code, exitCode })
    const remedies = await running.then(
      () => [],
      (error: { remedies: readonly string[] }) => error.remedies,
    )
    expect(remedies.join().includes('TMPDIR')).toBe(exitCode === 4)
  })

  it('keeps secrets of the environment from the child', async () => {
    process.env.FFREPORT = `file=${folder.file('report.log')}`
    await runFfmpeg({
      inputs: [{ url: 'anullsrc=r=8000', options: ['-f', 'lavfi', '-t', '0.1'] }],
      outputs: [{ url: folder.file('quiet.wav'), options: ['-f', 'wav'] }],
    })
    delete process.env.FFREPORT
    await expect(stat(folder.file('report.log'))).rejects.toMatchObject({ code: 'ENOENT' })
    expect((await ffmpegOutput('-i', folder.file('quiet.wav'), '-f', 's16le', 'pipe:1')).length).toBe(3200)
  })
})

/** Process ids of what this process has started and is still running. */
async function children(): Promise<string> {
  return (await readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')).trim()
}

/** Bytes that a process has read; 0 if there is none. */
async function bytesRead(pid: string): Promise<number> {
  const counts = pid && (await readFile(`/proc/${pid}/io`, 'utf8').catch(() => ''))
  return Number(/rchar: (\d+)/.exec(counts)?.[1] ?? 0)
}
