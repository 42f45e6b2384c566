import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { loadPreset, presetNames } from '../config/load-preset.js'
import { type Flags, resolveConfig } from '../config/resolve-config.js'
import type { Logger } from '../core/logger.js'
import { voxmuxVersion } from '../core/package-folder.js'
import { makeProcessFolder } from '../core/process-folder.js'
import { readPageFiles } from '../pages/page-files.js'
import { type PageServer, startPageServer } from '../pages/page-server.js'
import { ComparisonStore } from '../pipeline/report/comparison-store.js'
import { JobBoard, PREVIEW_SEC } from './job-board.js'
import { UI_ROUTES, type UiParts } from './ui-routes.js'

interface UiOptions extends Pick<UiParts, 'cwd' | 'openFolder'> {
  /** Absolute path of the file that the page opens with; null for none. */
  readonly file: string | null
  /** 0 picks a free one. */
  readonly port: number
  readonly env: NodeJS.ProcessEnv
  /** Path of a configuration file, as with `--config`. */
  readonly config: string | undefined
  /** Settings that override files and environment, as flags do. The choices on the page override them. */
  readonly settings: Flags
  readonly logger: Logger
}

/** A running page. Its address contains the token of this start, so only its owner may see it. */
export interface Ui extends PageServer {
  /** Private page that leads to {@link url}, so that the token is in no list of processes. */
  readonly startPage: string
}

const PAGE = 'src/ui/page/'

/**
 * Serves the page of `voxmux ui` on loopback. The token gives the rights of the user, so reading needs it as changes do.
 *
 * @throws {UsageError} `ERR_PORT_TAKEN`, and as `resolveConfig` does
 */
export async function startUi(options: UiOptions): Promise<Ui> {
  const { cwd, env, settings, config: configPath, file, port, logger, openFolder } = options
  const configOf = (flags: Flags) => resolveConfig({ cwd, env, configPath, flags: { ...settings, ...flags } })
  const config = await configOf({})
  const folder = await makeProcessFolder(join(config.stateDir, 'ui'))
  const board = new JobBoard({ cwd, env, config: configPath, settings, logger, folder })
  const comparisons = new ComparisonStore(join(folder, 'compared'))
  const token = randomBytes(32).toString('base64url')
  const { recipe, preset } = config
  const start = {
    ...{ version: voxmuxVersion(), cwd, home: homedir(), file, previewSec: PREVIEW_SEC },
    isFree: config.service.kind === 'embedded',
    presets: await describedPresets(preset),
    preset: preset.name,
    mix: recipe.mix,
    bed: recipe.bed,
  }
  const { url, close } = await startPageServer({
    ...{ name: 'page', routes: UI_ROUTES, files: readPageFiles(PAGE), token, guardsReading: true, port, logger },
    // A dropped film may take minutes.
    requestMs: 0,
    parts: { board, comparisons, configOf, cwd, uploadFolder: join(folder, 'dropped'), openFolder, start },
  })
  const startPage = join(folder, 'start.html')
  await writeFile(startPage, `<!doctype html><meta http-equiv="refresh" content="0;url=${url}">\n`, { mode: 0o600 })
  return {
    ...{ url, startPage },
    close: async () => {
      await board.close()
      await comparisons.close()
      await close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The built-in presets, and the configured one if it is another. */
async function describedPresets(configured: { readonly name: string; readonly path: string }) {
  const loaded = await Promise.all((await presetNames()).map((name) => loadPreset(name)))
  const own = loaded.some(({ name }) => name === configured.name) ? [] : [await loadPreset(configured.path)]
  return [...own, ...loaded].map(({ name, path, preset: { description } }) => ({
    ...{ name, description },
    value: own.some((one) => one.name === name) ? path : name,
  }))
}
