import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A temp folder of a test's own; `await using` or {@link TestFolder.remove} clears it. */
export interface TestFolder {
  readonly path: string
  file(name: string): string
  remove(): Promise<void>
}

/** Makes an empty folder in the system's temp folder. */
export async function testFolder(): Promise<TestFolder> {
  const path = await mkdtemp(join(tmpdir(), 'voxmux-media-'))
  return {
    path,
    file: (name) => join(path, name),
    remove: () => rm(path, { recursive: true, force: true }),
  }
}

/** Runs the system's own ffmpeg: tests make and judge media with it, not with the code under test. */
export async function ffmpeg(...args: readonly string[]): Promise<void> {
  await run('ffmpeg', ['-hide_banner', '-v', 'error', '-nostdin', '-y', ...args])
}

/** ffmpeg's stdout as bytes. */
export async function ffmpegOutput(...args: readonly string[]): Promise<Buffer> {
  const { stdout } = await run('ffmpeg', ['-hide_banner', '-v', 'error', '-nostdin', ...args], {
    encoding: 'buffer',
    maxBuffer: 1 << 28,
  })
  return stdout
}

/** ffprobe's JSON, as it is. */
export async function ffprobeJson(path: string, ...args: readonly string[]): Promise<Record<string, unknown>> {
  const { stdout } = await run('ffprobe', ['-v', 'error', '-print_format', 'json', ...args, path])
  return JSON.parse(stdout) as Record<string, unknown>
}

/** ffmpeg's own judgement of the loudness: LUFS, LU and dBTP. */
export async function ebur128(
  path: string,
): Promise<{ readonly integrated: number; readonly range: number; readonly peak: number }> {
  const meter = ['-af', 'ebur128=peak=true:framelog=verbose', '-f', 'null', '-']
  const { stderr } = await run('ffmpeg', ['-nostdin', '-i', path, ...meter])
  const summary = stderr.slice(stderr.lastIndexOf('Summary:'))
  const number = (name: string) => Number(new RegExp(`${name}:\\s+(-?[\\d.]+)`).exec(summary)?.[1])
  return { integrated: number('I'), range: number('LRA'), peak: number('Peak') }
}

/** Input options of a generated sound: a tone with a beep each second, told apart at every place. */
export function tone(durationSec: number, sampleRate = 48_000, channels = 1): readonly string[] {
  const layout = channels === 1 ? 'mono' : channels === 2 ? 'stereo' : '5.1'
  const wave = String.raw`0.3*sin(2*PI*(200+40*t)*t)*(0.2+0.8*lt(mod(t\,1)\,0.3))`
  const source = `aevalsrc=${Array.from({ length: channels }, () => wave).join('|')}`
  return ['-f', 'lavfi', '-i', `${source}:s=${sampleRate}:c=${layout}:d=${durationSec}`]
}

/** Input options of a generated picture. */
export function picture(durationSec: number, size = '64x48', rate = 25): readonly string[] {
  return ['-f', 'lavfi', '-i', `testsrc=s=${size}:r=${rate}:d=${durationSec}`]
}
