import { findCycles, findImports, type ImportLine, packageName, type SourceFiles } from './import-graph.js'

/** Rooms of the house: what each may import, besides itself. `index` is `src/index.ts`, the public surface. */
const ROOMS = {
  contract: [],
  core: [],
  client: ['contract', 'core'],
  media: ['core'],
  voice: ['core', 'media'],
  precheck: ['contract', 'core', 'media', 'voice'],
  config: ['contract', 'core', 'client', 'media', 'precheck'],
  jobs: ['core'],
  pipeline: ['contract', 'core', 'client', 'media', 'voice', 'precheck', 'config', 'jobs'],
  service: ['contract', 'core', 'media', 'voice', 'precheck', 'jobs'],
  'plugin-contract': ['core', 'config', 'pipeline'],
  index: ['contract', 'core', 'client', 'media', 'voice', 'precheck', 'config', 'jobs', 'pipeline', 'plugin-contract'],
  cli: [
    ...['contract', 'core', 'client', 'media', 'voice', 'precheck', 'config', 'jobs', 'pipeline', 'plugin-contract'],
    ...['service', 'index'],
  ],
} as const satisfies Record<string, readonly string[]>

/** Packages that shape a layer, and the one place that may import each: a file, or a folder (with a slash). */
const ONE_IMPORTER: Readonly<Record<string, string>> = {
  got: 'src/client/',
  'fluent-ffmpeg': 'src/media/ffmpeg.ts',
  'prom-client': 'plugins/watch-folder/',
  fastify: 'src/service/',
  'fastify-type-provider-zod': 'src/service/',
  '@fastify/swagger': 'src/service/',
  jose: 'src/service/',
  '@azure/storage-blob': 'src/service/',
  libsql: 'src/jobs/database.ts',
  bullmq: 'src/jobs/',
  ioredis: 'src/jobs/',
  yargs: 'src/cli/',
  listr2: 'src/cli/',
  '@jitsi/rnnoise-wasm': 'src/voice/',
  'onnxruntime-web': 'src/voice/',
  'ffmpeg-static': 'src/media/binaries.ts',
  '@ffprobe-installer/ffprobe': 'src/media/binaries.ts',
}

/** Longest file that reads in one sitting. */
export const MAX_LINES = 300

/** A sentence for every breach of the rules, empty where the house is in order. */
export function findBreaches(files: SourceFiles, longFiles: Readonly<Record<string, string>>): readonly string[] {
  const imports = findImports(files)
  return [
    ...imports.flatMap((line) => breachOfDirection(line)),
    ...imports.flatMap((line) => breachOfPlugin(line)),
    ...imports.flatMap((line) => breachOfImporter(line)),
    ...findCycles(imports).map((way) => `A cycle between files: ${way.join(' -> ')}. Move what they share below both.`),
    ...breachesOfLength(files, longFiles),
  ]
}

function breachOfDirection({ from, line, specifier, target }: ImportLine): readonly string[] {
  const room = roomOf(from)
  if (room === null) return []
  if (!isRoom(room)) return [`${from} lies in no known room: give "${room}" its place in ROOMS (DESIGN, section 1).`]
  // The composition root starts our plugins by the name under which a stranger's would be imported.
  if (room === 'cli' && specifier.startsWith('voxmux/plugins/')) return []
  if (packageName(specifier) === 'voxmux') return [`${from}:${line} imports "${specifier}": inside src/ name the file.`]
  if (target === null) return []
  const other = roomOf(target)
  if (other === room || (other !== null && (ROOMS[room] as readonly string[]).includes(other))) return []
  const allowed = ROOMS[room].length === 0 ? 'nothing of ours' : ROOMS[room].join(', ')
  return [`${from}:${line} imports ${target}: ${room} may import ${allowed}, not ${other ?? 'what lies outside src/'}.`]
}

function breachOfPlugin({ from, line, specifier, target }: ImportLine): readonly string[] {
  const plugin = /^plugins\/[^/]+/.exec(from)?.[0]
  if (plugin === undefined || target === null || target.startsWith(`${plugin}/`)) return []
  return [`${from}:${line} imports "${specifier}": a plugin imports its own files and the package "voxmux" only.`]
}

function breachOfImporter({ from, line, specifier }: ImportLine): readonly string[] {
  const name = packageName(specifier)
  const home = name === null ? undefined : ONE_IMPORTER[name]
  if (home === undefined || !/^(src|plugins)\//.test(from) || from === home) return []
  if (home.endsWith('/') && from.startsWith(home)) return []
  return [`${from}:${line} imports ${name}: only ${home} may.`]
}

function breachesOfLength(files: SourceFiles, longFiles: Readonly<Record<string, string>>): readonly string[] {
  const lengths = new Map([...files].map(([path, text]) => [path, text.trimEnd().split('\n').length]))
  const tooLong = [...lengths].flatMap(([path, lines]) =>
    lines <= MAX_LINES || path in longFiles
      ? []
      : [`${path} has ${lines} lines: split it (${MAX_LINES} at most), or name it in LONG_FILES with the reason.`],
  )
  const stale = Object.keys(longFiles).filter((path) => (lengths.get(path) ?? 0) <= MAX_LINES)
  return [...tooLong, ...stale.map((path) => `${path} is not long any more: take it out of LONG_FILES.`)]
}

/** `media` for `src/media/…`, `index` for `src/index.ts`; null outside `src/`. */
function roomOf(path: string): string | null {
  return /^src\/([^/]+?)(\.ts)?(\/|$)/.exec(path)?.[1] ?? null
}

function isRoom(name: string): name is keyof typeof ROOMS {
  return Object.hasOwn(ROOMS, name)
}
