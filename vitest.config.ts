import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig(({ mode }) => ({
  resolve: {
    alias: [
      { find: /^voxmux$/, replacement: source('src/index.ts') },
      { find: /^voxmux\/service$/, replacement: source('src/service/index.ts') },
      { find: /^voxmux\/step$/, replacement: source('plugins/script-step/index.ts') },
      { find: /^voxmux\/plugins\/(.+)$/, replacement: `${source('plugins')}/$1/index.ts` },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    // `npm run soak` (--mode soak) runs the long form of every test that has one; `npm test` the short.
    env: { VOXMUX_SOAK: mode === 'soak' ? '1' : '' },
    // Real ffmpeg, real servers: a loaded machine needs room. No test asserts on elapsed time.
    testTimeout: mode === 'soak' ? 1_800_000 : 60_000,
    hookTimeout: mode === 'soak' ? 300_000 : 60_000,
    // Tests start ffmpeg and servers of their own: more files at once than this only makes each slower, and a soak, which
    // measures, has the machine for itself.
    maxWorkers: mode === 'soak' ? 1 : 3,
    pool: 'forks',
    // A machine of CI shares its cores with others. A test that fails there once is asked again, and named at the end of the
    // run; everywhere else the first fault counts.
    retry: process.env.CI && mode !== 'soak' ? 1 : 0,
    reporters: ['default', './test/helpers/second-goes.ts'],
  },
}))
