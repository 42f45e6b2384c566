/**
 * Builds the nodes of n8n and Node-RED: packages of their own, without dependencies. Both are the client of voxmux, joined
 * into one file. `plugins/n8n/stand-ins` takes the place of zod, and in n8n also of the modules of Node.
 */
import { copyFileSync, cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, buildSync } from 'esbuild'

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))
const standIn = (name: string) => at(`plugins/n8n/stand-ins/${name}.ts`)

const COMMON: BuildOptions = {
  absWorkingDir: at('.'),
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node20.19',
  logLevel: 'warning',
}

/** Writes `dist` of both packages. */
export function buildNodePackages(): void {
  const n8n = at('plugins/n8n')
  emptyDist(n8n)
  buildSync({
    ...COMMON,
    entryPoints: ['nodes/Voxmux/Voxmux.node.ts', 'credentials/VoxmuxApi.credentials.ts'].map((path) => join(n8n, path)),
    outbase: n8n,
    outdir: join(n8n, 'dist'),
    external: ['n8n-workflow'],
    alias: {
      zod: standIn('zod'),
      'node:timers/promises': standIn('timers-promises'),
      'node:events': standIn('node-parts'),
      'node:util': standIn('node-parts'),
    },
    // Verified nodes may not use the global timers: n8n has a sleep of its own.
    inject: [standIn('timers')],
  })
  for (const file of ['voxmux.svg', 'voxmux.dark.svg', 'Voxmux.node.json']) {
    copyFileSync(join(n8n, 'nodes/Voxmux', file), join(n8n, 'dist/nodes/Voxmux', file))
  }

  const nodeRed = at('plugins/node-red')
  emptyDist(nodeRed)
  buildSync({
    ...COMMON,
    entryPoints: [join(nodeRed, 'voxmux.ts')],
    outfile: join(nodeRed, 'dist/voxmux.js'),
    alias: { zod: standIn('zod') },
    // As deep as `src/core`, from which the version of the package is found.
    define: { 'import.meta.url': 'moduleUrl' },
    banner: { js: `const moduleUrl = require('node:url').pathToFileURL(__dirname + '/src/core/x.js').href` },
    footer: { js: 'module.exports = module.exports.default' },
  })
  copyFileSync(join(nodeRed, 'voxmux.html'), join(nodeRed, 'dist/voxmux.html'))
}

/** The sources are modules; what the hosts load is CommonJS. */
function emptyDist(folder: string): void {
  const dist = join(folder, 'dist')
  rmSync(dist, { recursive: true, force: true })
  cpSync(at('LICENSE'), join(dist, 'LICENSE'))
  writeFileSync(join(dist, 'package.json'), '{ "type": "commonjs" }\n')
}
