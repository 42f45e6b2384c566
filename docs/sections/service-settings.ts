import { flatten } from '../../src/config/merge-layers.js'
import { schemaKeys } from '../../src/config/schema-keys.js'
import { serveFileSchema } from '../../src/service/serve-file.js'

/** Every key of the file that `voxmux serve --settings` reads: what it takes, its default, what it does. */
export function serviceSettingsTable(): string {
  const defaults = flatten(serveFileSchema.parse({}))
  const rows = schemaKeys(serveFileSchema)
    .filter(({ isSection, path }) => !isSection && path !== '$schema')
    .map(({ path, type, description }) => {
      const fallback = defaults.has(path) ? `\`${JSON.stringify(defaults.get(path))}\`` : ''
      return `| ${[`\`${path}\``, type, fallback, description].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
    })
  return ['| key | takes | default | what it does |', '|---|---|---|---|', ...rows].join('\n')
}
