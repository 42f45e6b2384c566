import { writeFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { findFfmpeg, toolVersion } from '../../../src/media/ffmpeg/binaries.js'
import { type TestFolder, testFolder } from '../../helpers/media-factory.js'

/** As builds of all kinds print it, with what stands between left out. */
const printed = (version: string, libavutil: string) =>
  [
    `ffmpeg version ${version} Copyright (c) 2000-2026 the FFmpeg developers`,
    `configuration: --prefix=/usr ${'--enable-libsomething '.repeat(300)}`,
    `libavutil      ${libavutil} / ${libavutil}`,
    `libavcodec     58. 42.100 / 58. 42.100`,
  ].join('\n')

describe('the version of a tool', () => {
  it.each([
    ['N-47683-g0e8eb07980-static', '56. 24.101', true],
    ['4.4.2-0ubuntu0.22.04.1', '56. 70.100', true],
    ['5.0.1', '57. 17.100', true],
    ['5.1.9-0+deb12u1', '57. 28.100', false],
    ['6.1.1-3ubuntu5', '58. 29.100', false],
    ['n7.1', '59. 39.100', false],
    ['N-118193-g5f38c82536', '59. 51.100', false],
    ['9.0.2-4', '61.  1.102', false],
  ])('%s (libavutil %s): too old is %s', (version, libavutil, isTooOld) => {
    expect(toolVersion(printed(version, libavutil))).toEqual({ version, isTooOld })
  })

  it('is none of what another program prints', () => {
    expect(toolVersion('GNU bash, version 5.2.15')).toBeUndefined()
    expect(toolVersion('')).toBeUndefined()
  })
})

describe.skipIf(process.platform === 'win32')('findFfmpeg (not on Windows)', () => {
  let folder: TestFolder
  const chosen = process.env.VOXMUX_FFMPEG
  beforeAll(async () => {
    folder = await testFolder()
  })
  afterEach(() => {
    if (chosen === undefined) delete process.env.VOXMUX_FFMPEG
    else process.env.VOXMUX_FFMPEG = chosen
  })
  afterAll(() => folder.remove())

  it('refuses one that is too old, and says which and since when', async () => {
    const old = folder.file('ffmpeg')
    await writeFile(old, `#!/bin/sh\ncat <<'END'\n${printed('4.4.2', '56. 70.100')}\nEND\n`, { mode: 0o755 })
    process.env.VOXMUX_FFMPEG = old
    await expect(findFfmpeg()).rejects.toMatchObject({
      code: 'ERR_FFMPEG_TOO_OLD',
      exitCode: 2,
      message: `${old} is too old (4.4.2): voxmux needs 5.1 or newer.`,
    })
  })
})
