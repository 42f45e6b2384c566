import type { z } from 'zod'
import { SETTING_VARIABLES } from '../../src/config/environment.js'
import { flatten } from '../../src/config/merge-layers.js'
import { presetSchema } from '../../src/config/preset-schema.js'
import { DEFAULT_SETTINGS } from '../../src/config/resolve-config.js'
import { schemaKeys } from '../../src/config/schema-keys.js'
import { settingsSchema } from '../../src/config/settings-schema.js'
import { isTrustedOnly } from '../../src/config/trust.js'

/** Every key of a configuration file: what it takes, its default, its variable, and where it may be set. */
export function settingsTable(): string {
  const defaults = flatten(DEFAULT_SETTINGS)
  const variables = new Map(SETTING_VARIABLES.map(({ path, name }) => [path, name]))
  const rows = valuesOf(settingsSchema).map((key) => {
    const value = defaults.has(key.path) ? defaults.get(key.path) : key.fallback
    const fallback = value === undefined ? '' : `\`${JSON.stringify(value)}\``
    const variable = variables.get(key.path)
    const name = `\`${key.path}\`${isTrustedOnly(key.path) ? ' ¹' : ''}`
    return `| ${[name, escaped(key.type), fallback, variable ? `\`${variable}\`` : '', escaped(key.description)].join(' | ')} |`
  })
  return ['| key | takes | default | variable | what it does |', '|---|---|---|---|---|', ...rows].join('\n')
}

/** The keys of a preset that the table of settings describes. */
export function presetKeys(): string {
  const keys = valuesOf(presetSchema).filter(({ path }) => path !== 'description')
  return `${keys.map(({ path }) => `\`${path}\``).join(', ')}.`
}

function valuesOf(schema: z.ZodType) {
  return schemaKeys(schema).filter(({ isSection, path }) => !isSection && path !== '$schema')
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|')
}
