import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { findBreaches, MAX_FILES, MAX_LINES } from './helpers/house-rules.js'
import { readSources } from './helpers/import-graph.js'

/** Files over the length that reads in one sitting, each with the reason why it stays in one piece. */
const LONG_FILES: Readonly<Record<string, string>> = {}

describe('the house', () => {
  it('keeps its rules: one way down, one importer a package, no cycles, files that read in one sitting', () => {
    const root = fileURLToPath(new URL('..', import.meta.url))
    const files = readSources(root, ['src', 'plugins', 'fixtures', 'docs', 'test'])
    expect(files.size).toBeGreaterThan(10)
    expect(findBreaches(files, LONG_FILES)).toEqual([])
  })
})

describe('the rules themselves', () => {
  const breaches = (files: Record<string, string>, longFiles = {}) =>
    findBreaches(new Map(Object.entries(files)), longFiles)

  it.each([
    [
      'a room that looks up',
      { 'src/core/a.ts': "import '../media/b.js'", 'src/media/b.ts': '' },
      /core may import noth/,
    ],
    ['a type-only look up', { 'src/media/a.ts': "import type { B } from '../ledger/b.js'" }, /media may import core/],
    [
      'a floor that looks up',
      { 'src/media/pcm/a.ts': "import '../align/b.js'", 'src/media/align/b.ts': '' },
      /pcm may import/,
    ],
    [
      'two floors side by side',
      { 'src/media/cut/a.ts': "import '../align/b.js'", 'src/media/align/b.ts': '' },
      /cut may/,
    ],
    ['a lazy look up', { 'src/pipeline/a.ts': "await import('../service/index.js')" }, /not service/],
    ['a room nobody knows', { 'src/attic/a.ts': "import 'node:fs'" }, /no known room/],
    ['src through its own name', { 'src/ledger/a.ts': "import 'voxmux'" }, /name the file/],
    [
      'a second importer',
      { 'src/media/cut/cut.ts': "import ffmpeg from 'fluent-ffmpeg'" },
      /only src\/media\/ffmpeg\/ffmpeg\.ts/,
    ],
    [
      'a plugin in the command line',
      { 'plugins/timelines/a.ts': "import '../../src/cli/b.js'", 'src/cli/b.ts': '' },
      /timelines\/a\.ts:1 imports src\/cli\/b\.ts: a plugin may import/,
    ],
    [
      'a plugin in a plugin',
      { 'plugins/timelines/a.ts': "import '../hls/b.js'", 'plugins/hls/b.ts': '' },
      /imports plugins\/hls\/b\.ts: a plugin may import/,
    ],
    ['a plugin that imports the package', { 'plugins/hls/a.ts': "import 'voxmux'" }, /name the file/],
    [
      'a command that enters a plugin by a window',
      { 'src/cli/a.ts': "import '../../plugins/hls/b.js'", 'plugins/hls/b.ts': '' },
      /cli may import/,
    ],
    ['a cycle', { 'src/core/a.ts': "export * from './b.js'", 'src/core/b.ts': "import './a.js'" }, /cycle/],
    [
      'a wide folder',
      Object.fromEntries(Array.from({ length: MAX_FILES + 1 }, (_, n) => [`src/core/a${n}.ts`, ''])),
      /src\/core holds 26 files/,
    ],
    ['folders made by Node', { 'src/core/a.ts': 'await mkdir(path, { recursive: true })' }, /use makeFolder/],
    [
      'a name with two meanings',
      { 'src/core/a.ts': 'export type Edit = 1', 'plugins/hls/b.ts': 'export async function* Edit() {}' },
      /core\/a\.ts and plugins\/hls\/b\.ts export Edit/,
    ],
    ['a long file', { 'src/core/a.ts': 'x\n'.repeat(MAX_LINES + 1) }, /has 301 lines/],
  ])('see %s', (_name, files, message) => {
    expect(breaches(files)).toEqual([expect.stringMatching(message)])
  })

  it('let through what is allowed', () => {
    const files = {
      'src/client/a.ts': "import got from 'got'\nimport { z } from 'zod'\nimport '../core/time.js'",
      'src/core/time.ts': "import 'node:timers'",
      'plugins/watch-folder/a.ts':
        "import { Gauge } from 'prom-client'\nimport '../../src/core/time.js'\nimport './b.js'",
      'plugins/watch-folder/b.ts': '',
      'plugins/watch-folder/index.ts': '',
      'src/cli/a.ts': "await import('../../plugins/watch-folder/index.js')",
    }
    expect(breaches(files)).toEqual([])
  })

  it('know when an exception is no longer needed', () => {
    expect(breaches({ 'src/core/a.ts': 'x' }, { 'src/core/a.ts': 'once long' })).toEqual([
      expect.stringMatching(/not long any more/),
    ])
  })
})
