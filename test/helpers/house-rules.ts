import { findCycles, findImports, type ImportLine, packageName, type SourceFiles } from './import-graph.js'

/** Every room that a program may use. The service and what starts it come above. */
const LIBRARY = [
  ...['contract', 'core', 'client', 'media', 'voice', 'precheck'],
  ...['config', 'credentials', 'ledger', 'pipeline', 'extensions'],
]

/** The rooms of the house and what each may import besides itself. `index` is `src/index.ts`, the public surface. */
const ROOMS = {
  contract: [],
  core: [],
  client: ['contract', 'core'],
  media: ['core'],
  voice: ['core', 'media'],
  precheck: ['contract', 'core', 'media', 'voice'],
  config: ['contract', 'core', 'client', 'media', 'precheck'],
  credentials: ['core', 'media', 'config'],
  ledger: ['core'],
  pipeline: ['contract', 'core', 'client', 'media', 'voice', 'precheck', 'config', 'credentials', 'ledger', 'pages'],
  service: ['contract', 'core', 'media', 'voice', 'precheck', 'ledger'],
  extensions: ['core', 'config', 'pipeline'],
  pages: ['core'],
  runtime: ['core', 'config', 'pipeline', 'service', 'extensions'],
  ui: [...LIBRARY, 'pages', 'runtime'],
  index: [...LIBRARY, 'runtime'],
  cli: [...LIBRARY, 'service', 'pages', 'runtime', 'ui'],
} as const satisfies Record<string, readonly string[]>

/** The rooms that a plugin in TypeScript stands on: it imports these and its own files, never another plugin. */
const ROOMS_BELOW_PLUGINS: readonly string[] = [...LIBRARY, 'pages', 'runtime']

/**
 * The floors inside a room, top first: a file imports its own floor and those that are listed for it. The nouns that
 * every floor shares lie beside the floors and are open to all of them.
 */
const FLOORS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  media: {
    verify: ['write', 'align', 'cut', 'pcm', 'probe', 'ffmpeg'],
    write: ['align', 'cut', 'pcm', 'probe', 'ffmpeg'],
    align: ['pcm', 'probe', 'ffmpeg'],
    cut: ['pcm', 'probe', 'ffmpeg'],
    pcm: ['probe', 'ffmpeg'],
    probe: ['ffmpeg'],
    ffmpeg: [],
  },
  ledger: {
    shared: ['jobs', 'voices', 'spending', 'leases', 'database'],
    jobs: ['leases', 'database'],
    voices: ['jobs', 'leases', 'database'],
    spending: ['leases', 'database'],
    leases: ['database'],
    database: [],
  },
  pipeline: {
    queue: ['job', 'report', 'output', 'voice', 'plan'],
    job: ['report', 'output', 'voice', 'plan'],
    report: ['output', 'voice', 'plan'],
    output: ['voice', 'plan'],
    voice: ['plan'],
    plan: [],
  },
}

/** Packages that shape a layer, and the one place that may import each: a file, or a folder (with a slash). */
const ONE_IMPORTER: Readonly<Record<string, string>> = {
  got: 'src/client/',
  'fluent-ffmpeg': 'src/media/ffmpeg/ffmpeg.ts',
  'prom-client': 'plugins/watch-folder/',
  fastify: 'src/service/',
  'fastify-type-provider-zod': 'src/service/',
  // Nothing of ours imports it: it is a peer of fastify-type-provider-zod. Nor light-my-request, held at 6.6 for Node 20.
  '@fastify/swagger': 'src/service/',
  jose: 'src/service/',
  '@azure/storage-blob': 'src/service/',
  libsql: 'src/ledger/database/connection.ts',
  pg: 'src/ledger/database/',
  yargs: 'src/cli/',
  '@jitsi/rnnoise-wasm': 'src/voice/rnnoise.ts',
  '@sapphi-red/web-noise-suppressor': 'src/voice/gtcrn.ts',
  'onnxruntime-web': 'src/voice/',
  'ffmpeg-static': 'src/media/ffmpeg/binaries.ts',
  '@modelcontextprotocol/sdk': 'plugins/mcp/',
}

/** Longest file that reads in one sitting. */
export const MAX_LINES = 300

/** Most files of a folder: as many as a person can look over. */
export const MAX_FILES = 25

/** A sentence for every breach of the rules, empty where the house is in order. */
export function findBreaches(files: SourceFiles, longFiles: Readonly<Record<string, string>>): readonly string[] {
  const imports = findImports(files)
  return [
    ...imports.flatMap((line) => breachOfDirection(line)),
    ...imports.flatMap((line) => breachOfFloor(line)),
    ...imports.flatMap((line) => breachOfPlugin(line)),
    ...imports.flatMap((line) => breachOfImporter(line)),
    ...findCycles(imports).map((way) => `A cycle between files: ${way.join(' -> ')}. Move what they share below both.`),
    ...breachesOfFolders(files),
    ...breachesOfLength(files, longFiles),
    ...breachesOfWidth(files),
    ...breachesOfNames(files),
  ]
}

/** Names that several files export with one meaning, each with the reason. */
const SHARED_NAMES: Readonly<Record<string, string>> = {
  command: 'yargs opens each command by this name',
  setTimeout: "the n8n node replaces Node's two functions of that name",
}

const EXPORTED = /^export (?:async )?(?:type|interface|class|function\*?|const) (\w+)/gm

/** A name that two files export means two things, or one thing twice. */
function breachesOfNames(files: SourceFiles): readonly string[] {
  const exporters = new Map<string, Set<string>>()
  for (const [path, text] of files) {
    if (!/^(src|plugins)\//.test(path)) continue
    for (const [, name = ''] of text.matchAll(EXPORTED))
      exporters.set(name, (exporters.get(name) ?? new Set()).add(path))
  }
  return [...exporters]
    .filter(([name, paths]) => paths.size > 1 && !Object.hasOwn(SHARED_NAMES, name))
    .map(([name, paths]) => `${[...paths].join(' and ')} export ${name}: give each meaning a name of its own.`)
}

/** Node's own `recursive` never returns on some file systems. */
function breachesOfFolders(files: SourceFiles): readonly string[] {
  const isOurs = ([path]: readonly [string, string]) => /^(src|plugins)\//.test(path)
  return [...files]
    .filter(isOurs)
    .filter(([, text]) => /\bmkdir(Sync)?\(.*\brecursive: true/.test(text))
    .map(([path]) => `${path} makes folders with Node's \`recursive\`: use makeFolder of src/core/make-folder.ts.`)
}

function breachOfDirection({ from, line, specifier, target }: ImportLine): readonly string[] {
  const room = roomOf(from)
  if (room === null) return []
  if (!isRoom(room)) return [`${from} lies in no known room: give "${room}" its place in ROOMS (docs/architecture.md).`]
  if (packageName(specifier) === 'voxmux') return [`${from}:${line} imports "${specifier}": inside src/ name the file.`]
  if (target === null) return []
  // The composition root opens our plugins by their front door.
  if (room === 'cli' && /^plugins\/[^/]+\/index\.ts$/.test(target)) return []
  const other = roomOf(target)
  if (other === room || (other !== null && (ROOMS[room] as readonly string[]).includes(other))) return []
  const allowed = ROOMS[room].length === 0 ? 'nothing of ours' : ROOMS[room].join(', ')
  return [`${from}:${line} imports ${target}: ${room} may import ${allowed}, not ${other ?? 'what lies outside src/'}.`]
}

function breachOfFloor({ from, line, target }: ImportLine): readonly string[] {
  const here = floorOf(from)
  const there = target === null ? null : floorOf(target)
  if (here === null || there === null || here.room !== there.room || here.floor === there.floor) return []
  const below = FLOORS[here.room]?.[here.floor]
  if (below === undefined) return [`${from} lies on no known floor: give "${here.floor}" its place in FLOORS.`]
  if (below.includes(there.floor)) return []
  return [`${from}:${line} imports ${target}: ${here.floor} may import ${below.join(', ') || 'no other floor'}.`]
}

function breachOfPlugin({ from, line, specifier, target }: ImportLine): readonly string[] {
  const plugin = /^plugins\/[^/]+/.exec(from)?.[0]
  if (plugin === undefined) return []
  if (packageName(specifier) === 'voxmux') return [`${from}:${line} imports "${specifier}": name the file.`]
  if (target === null || target.startsWith(`${plugin}/`)) return []
  if (ROOMS_BELOW_PLUGINS.includes(roomOf(target) ?? '')) return []
  return [`${from}:${line} imports ${target}: a plugin may import its own files and ${ROOMS_BELOW_PLUGINS.join(', ')}.`]
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

function breachesOfWidth(files: SourceFiles): readonly string[] {
  const counts = new Map<string, number>()
  for (const path of files.keys()) {
    const folder = path.slice(0, path.lastIndexOf('/'))
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts].flatMap(([folder, count]) =>
    count <= MAX_FILES ? [] : [`${folder} holds ${count} files: give it folders (${MAX_FILES} at most).`],
  )
}

/** `media` for `src/media/…`, `index` for `src/index.ts`; null outside `src/`. */
function roomOf(path: string): string | null {
  return /^src\/([^/]+?)(\.ts)?(\/|$)/.exec(path)?.[1] ?? null
}

/** Room and floor of `src/media/probe/…`; null for a file beside the floors and in rooms without any. */
function floorOf(path: string): { readonly room: string; readonly floor: string } | null {
  const [, room = '', floor = ''] = /^src\/([^/]+)\/([^/]+)\//.exec(path) ?? []
  return room in FLOORS ? { room, floor } : null
}

function isRoom(name: string): name is keyof typeof ROOMS {
  return Object.hasOwn(ROOMS, name)
}
