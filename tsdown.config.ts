import { defineConfig, type UserConfig } from 'tsdown'

const shared = {
  // One module a source file: `new URL(…, import.meta.url)` (worker threads, presets) resolves the same way in
  // src/ and in dist/, and a stack trace names the file a person can open.
  unbundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: true,
  // How long a plugin took is no news to whoever builds.
  checks: { pluginTimings: false },
  outExtensions: () => ({ js: '.js', dts: '.d.ts' }),
  // The package speaks of itself by name, as a stranger's plugin does: one copy of every module in a process.
  deps: { neverBundle: [/^voxmux(\/|$)/] },
} satisfies UserConfig

export default defineConfig([
  { ...shared, entry: ['src/**/*.ts'], outDir: 'dist', clean: ['dist/**', '!dist/plugins/**'] },
  {
    ...shared,
    entry: ['plugins/**/*.ts'],
    root: 'plugins',
    outDir: 'dist/plugins',
    clean: true,
    // What the dashboard serves is served as it is written.
    copy: [{ from: 'plugins/watch-folder/dashboard/page', to: 'dist/plugins/watch-folder/dashboard' }],
  },
])
