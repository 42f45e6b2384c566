import type { z } from 'zod'
import { schemaKeys } from '../../src/config/schema-keys.js'

/** The settings of a plugin as a table, under the name of the place where a person writes them. */
export function pluginSettings(schema: z.ZodType, place: string): string {
  const rows = schemaKeys(schema).map(({ path, type, description, fallback }) => {
    const shown = fallback === undefined || fallback === '' ? '' : `\`${JSON.stringify(fallback)}\``
    return `| \`${path}\` | ${[type, shown, description].map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`
  })
  return [`In ${place}.`, '', '| setting | takes | default | what it does |', '|---|---|---|---|', ...rows].join('\n')
}
