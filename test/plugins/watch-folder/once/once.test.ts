import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { tinyWave } from '../../../helpers/sound/tiny-wave.js'
import { eventsOf } from '../../../helpers/voxmux-cli.js'
import { watchBench } from '../watch-bench.js'

const ONE_FILE = ['--concurrency', '1'] as const
/** Root may read everything, unless its capabilities are taken. */
const AS_OWNER = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : []

function unlist(path: string): void {
  for (const name of ['out', 'failed']) mkdirSync(`${path}/${name}`)
  chmodSync(path, 0o111)
}

describe('voxmux watch --once', () => {
  const bench = watchBench()
  const configure = (...names: readonly string[]) => {
    const path = bench.workshop.path('voxmux.json')
    for (const name of names) mkdirSync(bench.file(name))
    writeFileSync(path, JSON.stringify({ watch: { folders: names.map((name) => ({ path: bench.file(name) })) } }))
    return path
  }

  it('ends while a folder with queued files is offline, works off the others, and goes on when it is back', async () => {
    const config = configure('here', 'away')
    for (const name of ['here', 'away']) writeFileSync(bench.file(`${name}/a.wav`), tinyWave(name.length))
    expect((await bench.onceConfigured(config, '--ingest-only')).exitCode).toBe(0)
    renameSync(bench.file('away'), bench.file('unmounted'))
    const result = await bench.watchConfigured(config, '--once').ended
    expect(result.exitCode, result.stderr).toBe(4)
    expect(eventsOf(result).at(-1)).toMatchObject({ event: 'result', exitCode: 4, done: 1 })
    renameSync(bench.file('unmounted'), bench.file('away'))
    const again = await bench.onceConfigured(config)
    expect(again.exitCode, again.stderr).toBe(0)
    expect(eventsOf(again).at(-1)).toMatchObject({ done: 1 })
  })

  it.each([
    ['missing', (path: string) => renameSync(path, `${path}.moved`)],
    ['unreadable', (path: string) => chmodSync(path, 0)],
    ['not to be listed', unlist],
  ] as const)('is no success while a folder is %s', async (_, harm) => {
    const config = configure('here', 'harmed')
    harm(bench.file('harmed'))
    const result = await bench.watchConfiguredThrough(AS_OWNER, config, '--once').ended
    expect(result.exitCode, result.stderr).toBe(4)
  })

  it('ends while the service refuses the account, and tries it again at the next start', async () => {
    bench.server.fail('token', { kind: 'status', status: 401 }, Number.POSITIVE_INFINITY)
    for (const number of [1, 2, 3, 4]) writeFileSync(bench.file(`${number}.wav`), tinyWave(number))
    for (const run of [1, 2]) {
      const refused = await bench.once(...ONE_FILE)
      expect([run, refused.exitCode], refused.stderr).toEqual([run, 6])
    }
    bench.server.heal()
    const result = await bench.once(...ONE_FILE)
    expect(result.exitCode, result.stderr).toBe(0)
    expect(eventsOf(result).at(-1)).toMatchObject({ done: 4 })
  })
})
