import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { examineTools } from '../../src/cli/doctor/examine.js'

describe.skipIf(process.platform === 'win32')('the doctor of tools (not on Windows)', () => {
  const chosen = process.env.VOXMUX_FFMPEG
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'voxmux-tools-'))
  })
  afterEach(async () => {
    if (chosen === undefined) delete process.env.VOXMUX_FFMPEG
    else process.env.VOXMUX_FFMPEG = chosen
    await rm(folder, { recursive: true, force: true })
  })

  /** The real one, built as if without some parts. */
  async function useWithout(parts: RegExp): Promise<void> {
    const real = chosen ?? execFileSync('which', ['ffmpeg'], { encoding: 'utf8' }).trim()
    const path = join(folder, 'ffmpeg')
    await writeFile(path, `#!/bin/sh\n'${real}' "$@" | grep -Ev ' (${parts.source}) '\n`, { mode: 0o755 })
    process.env.VOXMUX_FFMPEG = path
  }

  it('says nothing of the parts of a whole ffmpeg', async () => {
    expect((await examineTools(undefined)).map(({ check, status }) => `${check} ${status}`)).toEqual([
      'ffmpeg ok',
      'ffprobe ok',
    ])
  })

  it('names the filters that every file needs', async () => {
    await useWithout(/asplit|channelmap/)
    expect((await examineTools(undefined)).at(-1)).toMatchObject({
      ...{ check: 'ffmpeg parts', status: 'fault', exitCode: 2 },
      detail: 'this ffmpeg lacks the filters asplit, channelmap, so it cannot regenerate any file.',
    })
  })

  it('only remarks on encoders', async () => {
    await useWithout(/libopus/)
    expect((await examineTools(undefined)).at(-1)).toMatchObject({
      ...{ check: 'ffmpeg parts', status: 'note', exitCode: 0 },
      detail: 'this ffmpeg lacks the encoders libopus, so it cannot write audio of these kinds.',
    })
  })
})
