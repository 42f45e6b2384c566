import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: /^voxmux$/, replacement: source('src/index.ts') },
      { find: /^voxmux\/service$/, replacement: source('src/service/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    // Real ffmpeg, real servers: a loaded machine needs room. No test asserts on elapsed time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
  },
})
