import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../helpers/until.js'
import { type RunningCli, startCli } from '../../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../../helpers/workshop.js'

/** Writes down every module that a process loads. */
const WRITES_DOWN = `import { appendFileSync } from 'node:fs'
export async function load(url, context, next) {
  appendFileSync(process.env.LOADED_MODULES, url + '\\n')
  return next(url, context)
}`

const dataUrl = (source: string) => `data:text/javascript,${encodeURIComponent(source)}`

describe('a daemon', () => {
  let workshop: Workshop
  let running: RunningCli | undefined
  beforeEach(() => {
    workshop = openWorkshop()
  })
  afterEach(async () => {
    running?.child.kill('SIGKILL')
    await running?.ended
    workshop.remove()
  })

  // Node.js does not load a module again that it could not read, for want of file handles, when it was first needed.
  it('loads its modules before its first file', async () => {
    const list = workshop.path('modules')
    const loaded = () => readFileSync(list, 'utf8').trim().split('\n')
    writeFileSync(
      workshop.path('list.mjs'),
      `import { register } from 'node:module'
register(${JSON.stringify(dataUrl(WRITES_DOWN))})`,
    )
    running = startCli(['watch', workshop.dir, '--settle', '0.1', '--json'], {
      cwd: workshop.dir,
      env: { ...workshop.env, LOADED_MODULES: list, NODE_OPTIONS: `--import ${workshop.path('list.mjs')}` },
    })
    await running.until(/"event":"watching"/)
    const before = new Set(loaded())
    expect([...before].some((url) => url.includes('/got/'))).toBe(true)
    workshop.takeVoice('a.wav')
    await until(() => existsSync(workshop.path('out/a.wav.voxmux.json')))
    expect(loaded().filter((url) => !before.has(url) && !url.startsWith('node:'))).toEqual([])
  })
})
