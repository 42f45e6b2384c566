import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { findFfmpeg } from '../../../../src/media/ffmpeg/binaries.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { aacCoderOptions } from '../../../../src/media/write/encode/aac-coder.js'
import { planOutput } from '../../../../src/media/write/plan-writing.js'
import { newStreams } from '../../../../src/media/write/remux/mux-command.js'
import { ffmpeg, type TestFolder, testFolder, tone } from '../../../helpers/media-factory.js'

const help = (fallback: string, ...others: readonly string[]) =>
  [
    'Encoder aac [AAC (Advanced Audio Coding)]:',
    `  -aac_coder         <int>        E...A...... Coding algorithm (from 0 to 2) (default ${fallback})`,
    ...[...others, fallback].map((name, value) => `     ${name}            ${value}            E...A......`),
  ].join('\n')

describe.skipIf(process.platform === 'win32')('the search of the AAC encoder (a shell script is ffmpeg)', () => {
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

  it.each([
    ['is the fast one if the default is the slow one', help('twoloop', 'fast'), ['-aac_coder:{s}', 'fast']],
    ['stays a newer default', help('nmr', 'fast', 'twoloop'), []],
    ['stays the default if there is no fast one', help('twoloop', 'nmr'), []],
    ['stays the default of an encoder without a choice', 'Encoder aac:', []],
  ])('%s', async (name, printed, options) => {
    const path = folder.file(name.replaceAll(' ', '-'))
    const version = 'ffmpeg version 7.1\nlibavutil      59. 39.100 / 59. 39.100'
    await writeFile(
      path,
      `#!/bin/sh\ncase "$*" in\n*encoder=aac*) cat <<'E'\n${printed}\nE\n;;\n*) echo '${version}' ;;\nesac\n`,
      {
        mode: 0o755,
      },
    )
    process.env.VOXMUX_FFMPEG = path
    expect(await aacCoderOptions()).toEqual(options)
  })

  it('is planned for a film as the ffmpeg in use needs it', async () => {
    const [path, { path: tool }] = [folder.file('film.m4a'), await findFfmpeg()]
    await ffmpeg(...tone(0.5), '-c:a', 'aac', path)
    const { stdout } = await promisify(execFile)(tool, ['-hide_banner', '-h', 'encoder=aac'])
    const [stream] = newStreams(await planOutput(await probe(path), { container: 'm4a', replaced: [0] }))
    expect(stream?.encoding.options.includes('fast')).toBe(/default twoloop/.test(stdout))
  })
})
