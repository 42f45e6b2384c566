/** `npm run bench` lists the benchmarks, `npm run bench NAME [argument…]` runs one. Each prints its figures as ratios. */
const BENCHMARKS: Readonly<Record<string, () => Promise<unknown>>> = {
  'aac-search': () => import('./aac-search.js'),
  claims: () => import('./claims.js'),
  credentials: () => import('./credentials.js'),
  'engine-memory': () => import('./engine-memory.js'),
  farm: () => import('./farm.js'),
  'folder-events': () => import('./folder-events.js'),
  'hook-return': () => import('./hook-return.js'),
  'many-steps': () => import('./many-steps.js'),
  overhead: () => import('./overhead.js'),
  startup: () => import('./startup.js'),
  timeline: () => import('./timeline.js'),
  'service-memory': () => import('./service-memory.js'),
  'store-memory': () => import('./store-memory.js'),
  voice: () => import('./voice.js'),
  'watch-latency': () => import('./watch-latency.js'),
  zoo: () => import('./zoo.js'),
}

const start = BENCHMARKS[process.argv[2] ?? '']
if (start) await start()
else process.stdout.write(`npm run bench NAME, one of: ${Object.keys(BENCHMARKS).join(', ')}\n`)
