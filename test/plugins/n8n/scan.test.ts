import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { freshFolder } from '../../service/support/with-service.js'

/** The folder of the package `@n8n/scan-community-package`; CI installs it outside the dependencies. */
const SCANNER = process.env.VOXMUX_N8N_SCANNER
if (!SCANNER) process.stderr.write("n8n's scanner does not run: VOXMUX_N8N_SCANNER does not name its folder.\n")

const PACKAGE = fileURLToPath(new URL('../../../plugins/n8n', import.meta.url))
const SCAN = fileURLToPath(new URL('scan.mjs', import.meta.url))
const run = promisify(execFile)

it.skipIf(!SCANNER)(
  'the scanner of n8n finds nothing in the sources and in the package',
  async () => {
    const folder = await freshFolder()
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: PACKAGE })
    const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: readonly { path: string }[] }]
    expect(files.map(({ path }) => path).sort()).toEqual([
      'README.md',
      'dist/LICENSE',
      'dist/credentials/VoxmuxApi.credentials.js',
      'dist/nodes/Voxmux/Voxmux.node.js',
      'dist/nodes/Voxmux/Voxmux.node.json',
      'dist/nodes/Voxmux/voxmux.dark.svg',
      'dist/nodes/Voxmux/voxmux.svg',
      'dist/package.json',
      'package.json',
    ])
    await mkdir(join(folder, 'package'))
    await run('tar', ['-xzf', join(folder, filename), '-C', folder])
    // Its rules read other file names if they are tested themselves.
    const env = { ...process.env, NODE_ENV: 'production' }
    const found = await run(process.execPath, [SCAN, SCANNER ?? '', PACKAGE, join(folder, 'package')], { env })
    expect(JSON.parse(found.stdout)).toEqual([])
  },
  120_000,
)
