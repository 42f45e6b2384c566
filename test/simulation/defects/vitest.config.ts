import { relative, resolve } from 'node:path'
import { defineConfig, mergeConfig, type ViteUserConfigFnObject } from 'vitest/config'
import plain from '../../../vitest.config.js'
import { withDefect } from './with-defect.js'

const ROOT = resolve(import.meta.dirname, '../../..')

/** The tests of the repository, over a voxmux in which the defect named in `VOXMUX_DEFECT` is put back. */
export default defineConfig((env) =>
  mergeConfig((plain as ViteUserConfigFnObject)(env), {
    root: ROOT,
    plugins: [
      {
        name: 'defect',
        enforce: 'pre',
        transform: (source: string, id: string) =>
          withDefect(source, relative(ROOT, id), process.env.VOXMUX_DEFECT ?? ''),
      },
    ],
  }),
)
