import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import { fixture, jobBench, streamHash } from '../../helpers/job-bench.js'
import { quieterVoice } from '../../helpers/sound/quieter-voice.js'
import { runHost } from '../../helpers/step-command.js'

/** The module of nexrender-core; CI installs it outside the dependencies, as a person has it. */
const CORE = process.env.VOXMUX_NEXRENDER
if (!CORE) process.stderr.write('A real nexrender is not tested: VOXMUX_NEXRENDER does not name @nexrender/core.\n')

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const HOST = fileURLToPath(new URL('core-host.cjs', import.meta.url))
const bench = jobBench()

// After Effects, as nexrender starts it: `aerender -project … -comp … -output FILE …`.
beforeEach(async () => {
  const program = `#!/bin/sh\nwhile [ "$1" != -output ]; do shift; done\ncp '${fixture('phone.mp4')}' "$2"\n`
  await writeFile(bench.folder.file('aerender'), program, { mode: 0o755 })
  await writeFile(bench.folder.file('project.aep'), '')
  // What `npm install -g voxmux` leaves.
  await mkdir(bench.folder.file('global'))
  await symlink(ROOT, bench.folder.file('global/voxmux'))
})

async function render(postrender: readonly object[]) {
  const src = pathToFileURL(bench.folder.file('project.aep')).href
  const template = { src, name: 'project.aep', composition: 'main', outputExt: 'mp4' }
  const job = { uid: 'film', template, actions: { postrender } }
  const settings = { binary: bench.folder.file('aerender'), workpath: bench.folder.file('work') }
  const env = {
    ...bench.server.env,
    VOXMUX_STATE_DIR: bench.folder.file('render'),
    NODE_PATH: bench.folder.file('global'),
  }
  const args = [HOST, CORE ?? '', JSON.stringify(job), JSON.stringify(settings)]
  const { error, log } = JSON.parse(await runHost(process.execPath, args, env)) as {
    readonly error: string | null
    readonly log: readonly string[]
  }
  return { error, log: log.filter((line) => line.startsWith('[film] voxmux: ')) }
}

describe.skipIf(!CORE)('in a real nexrender-core', () => {
  it('the action, by its name, hands what it regenerated to the next', async () => {
    bench.server.behaviour.regenerate = quieterVoice
    const finished = bench.folder.file('finished/film.mp4')
    const { error, log } = await render([
      { module: 'voxmux/plugins/nexrender', preset: 'transparent' },
      { module: '@nexrender/action-copy', output: finished },
    ])
    expect(error).toBeNull()
    expect(log.at(-1)).toBe(`[film] voxmux: done ${bench.folder.file('work/film/result.regen.mp4')}`)
    expect(await streamHash(finished, '0:v')).toBe(await streamHash(fixture('phone.mp4'), '0:v'))
    expect(await streamHash(finished, '0:a')).not.toBe(await streamHash(fixture('phone.mp4'), '0:a'))
    // nexrender clears its work folder: nothing of ours keeps it.
    expect(await readdir(bench.folder.file('work'))).not.toContain('film')
  })

  it('the action, by its path, fails the job, and the log says why and what to do', async () => {
    const { error, log } = await render([{ module: `${ROOT}plugins/nexrender/action.cjs`, presett: 'podcast' }])
    expect(error).toMatch(/^Error loading postrender module .*action\.cjs: .*"presett"/)
    expect(log.at(-1)).toMatch(/did you mean "preset"\?.* \(ERR_JOB_REQUEST\) ./)
    expect(bench.server.charges).toBe(0)
  })
})
