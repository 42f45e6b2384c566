import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { findBreaches, MAX_LINES } from './helpers/house-rules.js'
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
    ['a type-only look up', { 'src/media/a.ts': "import type { B } from '../jobs/b.js'" }, /media may import core/],
    ['a lazy look up', { 'src/pipeline/a.ts': "await import('../service/index.js')" }, /not service/],
    ['a room nobody knows', { 'src/attic/a.ts': "import 'node:fs'" }, /no known room/],
    ['src through its own name', { 'src/jobs/a.ts': "import 'voxmux'" }, /name the file/],
    ['a second importer', { 'src/media/cut.ts': "import ffmpeg from 'fluent-ffmpeg'" }, /only src\/media\/ffmpeg\.ts/],
    ['a plugin in the house', { 'plugins/otio/a.ts': "import '../../src/index.js'" }, /only/],
    ['a plugin in a plugin', { 'plugins/otio/a.ts': "import '../mlt/b.js'", 'plugins/mlt/b.ts': '' }, /only/],
    ['a cycle', { 'src/core/a.ts': "export * from './b.js'", 'src/core/b.ts': "import './a.js'" }, /cycle/],
    ['a long file', { 'src/core/a.ts': 'x\n'.repeat(MAX_LINES + 1) }, /has 301 lines/],
  ])('see %s', (_name, files, message) => {
    expect(breaches(files)).toEqual([expect.stringMatching(message)])
  })

  it('let through what is allowed', () => {
    const files = {
      'src/client/a.ts': "import got from 'got'\nimport { z } from 'zod'\nimport '../core/time.js'",
      'src/core/time.ts': "import 'node:timers'",
      'plugins/watch-folder/a.ts': "import { Gauge } from 'prom-client'\nimport 'voxmux'\nimport './b.js'",
      'plugins/watch-folder/b.ts': '',
      'src/cli/a.ts': "await import('voxmux/plugins/watch-folder')",
    }
    expect(breaches(files)).toEqual([])
  })

  it('know when an exception is no longer needed', () => {
    expect(breaches({ 'src/core/a.ts': 'x' }, { 'src/core/a.ts': 'once long' })).toEqual([
      expect.stringMatching(/not long any more/),
    ])
  })
})
