import type { z } from 'zod'
import { JobFailedError } from '../core/errors.js'
import { findFfprobe } from './binaries.js'
import { startChild } from './child-process.js'
import { ffmpegFailure } from './ffmpeg-failure.js'
import { fileUrl, safeInputOptions } from './input-safety.js'

/** A table of any sane file is far below this; a crafted one must not fill the memory. */
const MAX_JSON_CHARS = 64 * 1024 * 1024
const DEFAULT_TIMEOUT_MS = 120_000

export interface FfprobeOptions {
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
}

/**
 * Runs ffprobe on a local file and reads its JSON.
 *
 * @param args what to show, e.g. `-show_format -show_streams`
 * @throws the typed errors of {@link ffmpegFailure}
 */
export async function ffprobe<T>(
  path: string,
  args: readonly string[],
  schema: z.ZodType<T>,
  { signal, timeoutMs = DEFAULT_TIMEOUT_MS }: FfprobeOptions = {},
): Promise<T> {
  const chunks: string[] = []
  await ffprobeText(path, ['-print_format', 'json', ...args], (text) => chunks.push(text), { signal, timeoutMs })
  let json: unknown
  try {
    json = JSON.parse(chunks.join(''))
  } catch (cause) {
    throw new JobFailedError('ERR_FFPROBE_ANSWER', `ffprobe gave no readable answer for ${path}.`, {
      input: path,
      cause,
    })
  }
  const parsed = schema.safeParse(json)
  if (parsed.success) return parsed.data
  throw new JobFailedError('ERR_FFPROBE_ANSWER', `ffprobe gave an unknown kind of answer for ${path}.`, {
    input: path,
    cause: parsed.error,
  })
}

/** Runs ffprobe and hands its output on as it comes. */
async function ffprobeText(
  path: string,
  args: readonly string[],
  onText: (text: string) => void,
  { signal, timeoutMs = DEFAULT_TIMEOUT_MS }: FfprobeOptions = {},
): Promise<void> {
  const binary = await findFfprobe()
  const child = startChild({
    path: binary.path,
    args: ['-hide_banner', '-loglevel', 'level+error', ...safeInputOptions(), ...args, '-i', fileUrl(path)],
    stdin: 'ignore',
    stdout: 'pipe',
    signal,
    timeoutMs,
  })
  let chars = 0
  child.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
    chars += text.length
    if (chars > MAX_JSON_CHARS) child.stop()
    else onText(text)
  })
  const end = await child.ended
  if (end.exitCode !== 0) throw ffmpegFailure(end, path)
}
