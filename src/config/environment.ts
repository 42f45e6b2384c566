import { checkSchema } from './check-schema.js'
import { nest, type SettingPath } from './merge-layers.js'
import { nearest } from './nearest.js'
import { type Settings, settingsSchema } from './settings-schema.js'

/** An environment variable that sets one value of the configuration. */
interface SettingVariable {
  readonly name: `VOXMUX_${string}`
  readonly path: SettingPath
  /** `number`: a number if the text is one. */
  readonly kind: 'text' | 'number'
}

/** All variables that set a value. Empty ones count as absent. */
export const SETTING_VARIABLES: readonly SettingVariable[] = [
  { name: 'VOXMUX_BASE_URL', path: 'service.baseUrl', kind: 'text' },
  { name: 'VOXMUX_AUTH_URL', path: 'service.authUrl', kind: 'text' },
  { name: 'VOXMUX_TENANT_ID', path: 'service.tenantId', kind: 'text' },
  { name: 'VOXMUX_CLIENT_ID', path: 'service.clientId', kind: 'text' },
  { name: 'VOXMUX_CLIENT_SECRET', path: 'service.clientSecret', kind: 'text' },
  { name: 'VOXMUX_SCOPE', path: 'service.scope', kind: 'text' },
  { name: 'VOXMUX_WEBHOOK_LISTEN', path: 'webhook.listen', kind: 'text' },
  { name: 'VOXMUX_WEBHOOK_SECRET', path: 'webhook.secret', kind: 'text' },
  { name: 'VOXMUX_WATCH_WEBHOOK_SECRET', path: 'watch.webhookSecret', kind: 'text' },
  { name: 'VOXMUX_BLOCK_TYPE_HEADER', path: 'blockTypeHeader', kind: 'text' },
  { name: 'VOXMUX_PROFILE', path: 'profile', kind: 'text' },
  { name: 'VOXMUX_PRESET', path: 'preset', kind: 'text' },
  { name: 'VOXMUX_MODEL', path: 'voice.model', kind: 'text' },
  { name: 'VOXMUX_TRACK', path: 'track', kind: 'number' },
  { name: 'VOXMUX_CHANNELS', path: 'channels', kind: 'text' },
  { name: 'VOXMUX_VERIFY', path: 'verify', kind: 'text' },
  { name: 'VOXMUX_CONCURRENCY', path: 'concurrency', kind: 'number' },
  { name: 'VOXMUX_STATE_DIR', path: 'stateDir', kind: 'text' },
  { name: 'VOXMUX_LEDGER', path: 'ledger', kind: 'text' },
  { name: 'VOXMUX_STORE', path: 'store', kind: 'text' },
  { name: 'VOXMUX_FFMPEG', path: 'ffmpeg', kind: 'text' },
  { name: 'VOXMUX_FFPROBE', path: 'ffprobe', kind: 'text' },
]

/** Sets the configuration file, like `--config`. */
export const CONFIG_VARIABLE = 'VOXMUX_CONFIG'

/** The variable that sets a value, if there is one. */
export function variableOf(path: string): string | undefined {
  return SETTING_VARIABLES.find((variable) => variable.path === path)?.name
}

/**
 * Reads the settings from the environment.
 *
 * @returns the settings by path
 * @throws {UsageError} `ERR_CONFIG_VALUE` with the variable and its allowed values, never its value
 */
export function readEnvironment(env: NodeJS.ProcessEnv): ReadonlyMap<SettingPath, unknown> {
  const settings = new Map<SettingPath, unknown>()
  for (const { name, path, kind } of SETTING_VARIABLES) {
    const text = env[name]
    if (text === undefined || text === '') continue
    const value = kind === 'number' && /^\d+(\.\d+)?$/.test(text) ? Number(text) : text
    checkSchema(settingsSchema, nest([[path, value]]) satisfies Settings, name)
    settings.set(path, value)
  }
  return settings
}

/** Finds misspelled VOXMUX_ variables, which would otherwise be ignored silently. */
export function unknownVariables(env: NodeJS.ProcessEnv): readonly string[] {
  const known = [CONFIG_VARIABLE, ...SETTING_VARIABLES.map(({ name }) => name)]
  return Object.keys(env)
    .filter((name) => name.startsWith('VOXMUX_') && !known.includes(name))
    .flatMap((name) => {
      const guess = nearest(name, known)
      return guess ? [`${name} is not a variable of voxmux. Did you mean ${guess}?`] : []
    })
}
