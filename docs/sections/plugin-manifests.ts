import { z } from 'zod'
import blender from '../../plugins/blender/manifest.js'
import hls from '../../plugins/hls/manifest.js'
import mediamtx from '../../plugins/mediamtx/manifest.js'
import mlt from '../../plugins/mlt/manifest.js'
import nexrender from '../../plugins/nexrender/manifest.js'
import nginxRtmp from '../../plugins/nginx-rtmp/manifest.js'
import obs from '../../plugins/obs/manifest.js'
import otio from '../../plugins/otio/manifest.js'
import resolve from '../../plugins/resolve/manifest.js'
import scriptStep from '../../plugins/script-step/manifest.js'
import tdarr from '../../plugins/tdarr/manifest.js'
import watchFolder from '../../plugins/watch-folder/manifest.js'
import { schemaKeys } from '../../src/config/schema-keys.js'
import type { HostedPlugin } from '../../src/plugin-contract/index.js'

/** A manifest of this house: its settings, where it has any, are a zod schema. */
export interface HouseManifest extends HostedPlugin {
  readonly options?: z.ZodType | undefined
}

/** The manifests of the plugins in this repository. */
export const PLUGIN_MANIFESTS: readonly HouseManifest[] = [
  ...[blender, hls, mediamtx, mlt, nexrender, nginxRtmp, obs, otio, resolve, scriptStep, tdarr, watchFolder],
]

/** A manifest as `plugin.json`: what any language reads. */
export function manifestJson({ options, ...manifest }: HouseManifest): string {
  const schema = options && z.toJSONSchema(options, { io: 'input', unrepresentable: 'any' })
  return `${JSON.stringify({ ...manifest, ...(schema && { options: schema }) }, null, 2)}\n`
}

/** The settings of a plugin as a table. */
export function pluginSettings({ name, options, optionsIn }: HouseManifest): string {
  if (!options) return `None of its own. [plugin.json](plugin.json) is the manifest.`
  const { properties = {} } = z.toJSONSchema(options, { io: 'input', unrepresentable: 'any' })
  const rows = schemaKeys(options).map(({ path, type, description }) => {
    const property = properties[path]
    const fallback = typeof property === 'object' ? property.default : undefined
    const shown = fallback === undefined || fallback === '' ? '' : `\`${JSON.stringify(fallback)}\``
    return `| \`${path}\` | ${[type, shown, description].map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`
  })
  return [
    `In ${optionsIn ?? name}; as JSON Schema in [plugin.json](plugin.json).`,
    '',
    '| setting | takes | default | what it does |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n')
}
