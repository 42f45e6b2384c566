import { existsSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { describe, expect, it } from 'vitest'
import { createOutput } from '../../src/cli/output/output.js'
import type { FileEvent } from '../../src/pipeline/events.js'
import { runCli } from '../helpers/voxmux-cli.js'

const file: FileEvent = {
  ...{ event: 'file', id: 'a', input: '/in/clip.mov', status: 'done', output: '/in/clip.regen.mov' },
  ...{ receipt: '/in/clip.regen.mov.voxmux.json', error: null },
}

describe('a stdout that takes no more', () => {
  it.each([
    ['ENOSPC', 0, 4],
    ['EIO', 0, 4],
    ['ENOSPC', 5, 5],
    ['EPIPE', 0, 0],
    ['ECONNRESET', 0, 0],
  ] as const)('with %s ends %i with %i, and says why it is not a success', async (code, exitCode, ended) => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()] as unknown as [WriteStream, WriteStream]
    const output = createOutput({ json: true, stdout, stderr })
    stdout.destroy(Object.assign(new Error(`${code}: write`), { code }))
    output.event(file)
    expect(await output.close(exitCode)).toBe(ended)
    const why = code === 'ENOSPC' ? 'its disk has no space left. Free' : `of a fault (${code}: write). Check`
    const said = `voxmux: The output on stdout is incomplete, because ${why} `
    const lines = String(stderr.read() ?? '')
      .trimEnd()
      .split('\n')
    expect([lines.length, lines[0]?.startsWith(said)]).toEqual([1, ended === 4])
  })

  it.runIf(existsSync('/dev/full'))('is no success of a command that was started', async () => {
    const options = { cwd: '/', through: ['sh', '-c', 'exec "$@" >/dev/full', 'sh'] }
    for (const args of [['presets', 'podcast'], ['completion', 'bash'], ['--help'], ['--version']])
      expect(await runCli(args, options)).toMatchObject({
        exitCode: 4,
        stderr: expect.stringMatching(/^voxmux: The output on stdout .* its disk has no space left\..*\n$/),
      })
  })
})
