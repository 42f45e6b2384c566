import { defineConfig } from 'tsdown'

export default defineConfig({
  // One module a source file: `new URL(…, import.meta.url)` (worker threads, presets) resolves the same way in
  // src/ and in dist/, and a stack trace names the file a person can open.
  entry: ['src/**/*.ts'],
  unbundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  outDir: 'dist',
  dts: true,
  clean: true,
  // How long a plugin took is no news to whoever builds.
  checks: { pluginTimings: false },
  outExtensions: () => ({ js: '.js', dts: '.d.ts' }),
})
