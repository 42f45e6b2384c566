import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Files that need a process of their own: they measure it, look at its children, or change its tools or its classes. */
const ALONE = [
  'binaries',
  'bounded-memory',
  'certificate',
  'child-process',
  'crowd',
  'encode-in-turns',
  'ffmpeg',
  'tool-memory',
  'voice-pool',
]

/** Folders whose tests leave nothing behind in their process, so that the next file there need not load the modules again. */
const SHARED = [
  'bench',
  'cli',
  'client',
  'config',
  'conformance',
  'contract',
  'core',
  'credentials',
  'docs',
  'e2e',
  'extensions',
  'farm',
  'helpers',
  'ledger',
  'media',
  'package',
  'pipeline',
  'plugins',
  'precheck',
  'service',
  'ui',
  'voice',
].map((folder) => `test/${folder}/**/!(${ALONE.join('|')}).test.ts`)

/**
 * A start of ffmpeg forks the process of the tests, which takes longer the more memory that has: 2 ms with 190 MB, 13 with
 * 540. After a large buffer, glibc would keep the memory of all later ones. With a threshold of its own, it gives it back.
 */
const GIVING_BACK = { MALLOC_MMAP_THRESHOLD_: `${128 * 1024}` }

/** What runs before the tests of a project. It stands in projects alone, because they would add it to that of the root. */
const setUp = (mode: string) => ({
  setupFiles: [
    'test/helpers/system/leave-as-found.ts',
    'test/helpers/equal-bytes.ts',
    'test/helpers/tool-facts/keep-in-folder.ts',
  ],
  // A soak measures: there, ffmpeg starts as it does elsewhere, and files lie on a disk.
  globalSetup: [
    ...(mode === 'soak' ? [] : ['test/helpers/system/memory-folder.ts', 'test/helpers/loaded-tools/start-servers.ts']),
    'test/helpers/tool-facts/make-folder.ts',
  ],
})

/** The settings of a run that depend on its mode. */
const ofMode = (mode: string) => ({
  // `npm run soak` (--mode soak) runs the long form of every test that has one; `npm test` the short.
  env: mode === 'soak' ? { VOXMUX_SOAK: '1' } : { VOXMUX_SOAK: '', ...GIVING_BACK },
  // Real ffmpeg, real servers: a loaded machine needs room. No test asserts on elapsed time.
  testTimeout: mode === 'soak' ? 1_800_000 : 60_000,
  hookTimeout: mode === 'soak' ? 300_000 : 60_000,
  // Tests start ffmpeg and servers of their own: more files at once than this only makes each slower, and a soak, which
  // measures, has the machine for itself.
  maxWorkers: mode === 'soak' ? 1 : 4,
  // A machine of CI shares its cores with others. A test that fails there is asked again twice, and named at the end of the
  // run; everywhere else the first fault counts.
  retry: process.env.CI && mode !== 'soak' ? 2 : 0,
})

const OPTIONAL_PACKAGE = '@contentauth/c2pa-node'

/** Lets Node.js itself fail to import the package if it is not installed: Vite's own error names no missing module. */
const missingPackage = {
  name: 'missing-package',
  enforce: 'pre' as const,
  resolveId: (id: string) => (id === OPTIONAL_PACKAGE && isMissing(id) ? { id, external: true } : null),
}

function isMissing(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name)
    return false
  } catch {
    return true
  }
}

export default defineConfig(({ mode }) => ({
  plugins: [missingPackage],
  resolve: {
    alias: [
      { find: /^voxmux$/, replacement: source('src/index.ts') },
      { find: /^voxmux\/service$/, replacement: source('src/service/index.ts') },
      { find: /^voxmux\/step$/, replacement: source('plugins/script-step/index.ts') },
      { find: /^voxmux\/plugins\/(.+)$/, replacement: `${source('plugins')}/$1/index.ts` },
    ],
  },
  test: {
    // A project reads this file again without the mode, so it is told what depends on it.
    projects: [
      {
        extends: true,
        test: {
          ...ofMode(mode),
          ...setUp(mode),
          name: 'own',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...SHARED],
        },
      },
      {
        extends: true,
        test: {
          ...ofMode(mode),
          ...setUp(mode),
          name: 'shared',
          include: SHARED,
          isolate: false,
          // A process is kept only while the next file is a shared one too, so these come in one row.
          sequence: { groupOrder: 1 },
        },
      },
    ],
    ...ofMode(mode),
    pool: 'forks',
    // Node.js loads its 2 MB itself. Vite would make 16 of them, in each process.
    server: { deps: { external: [/rnnoise-sync/] } },
    reporters: ['default', './test/helpers/second-goes.ts'],
  },
}))
