/** Dotted path of a setting: `voice.model`. */
export type SettingPath = string

/** Origin of a configuration value. */
export type Origin =
  | { readonly kind: 'flag'; readonly flag: string }
  | { readonly kind: 'env'; readonly variable: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'preset'; readonly name: string }
  | { readonly kind: 'profile'; readonly name: string }
  | { readonly kind: 'default' }

/** Settings of one origin. */
export interface Layer {
  readonly origin: (path: SettingPath) => Origin
  readonly settings: ReadonlyMap<SettingPath, unknown>
}

/** The result: each setting with the origin that won. */
export type Merged = ReadonlyMap<SettingPath, { readonly value: unknown; readonly origin: Origin }>

/** Flattens an object to settings by path. Lists and null are values, not sections. */
export function flatten(value: object, prefix = ''): ReadonlyMap<SettingPath, unknown> {
  const entries = Object.entries(value).flatMap(([key, child]): [SettingPath, unknown][] => {
    const path = `${prefix}${key}`
    if (child === undefined) return []
    return isSection(child) ? [...flatten(child, `${path}.`)] : [[path, child]]
  })
  return new Map(entries)
}

/** The inverse of {@link flatten}. */
export function nest(settings: Iterable<readonly [SettingPath, unknown]>): Record<string, unknown> {
  const root: Record<string, unknown> = {}
  for (const [path, value] of settings) {
    const keys = path.split('.')
    const last = keys.pop() as string
    let section = root
    for (const key of keys) {
      const next = isSection(section[key]) ? section[key] : {}
      section[key] = next
      section = next
    }
    section[last] = value
  }
  return root
}

/**
 * Merges layers, strongest first. A value hides the values of lower layers at its path, and above or below it. So
 * `loudness: null` removes a preset's `loudness.targetLufs`, and the other way round.
 */
export function mergeLayers(layers: readonly Layer[]): Merged {
  const merged = new Map<SettingPath, { value: unknown; origin: Origin }>()
  for (const { settings, origin } of layers) {
    const stronger = [...merged.keys()]
    for (const [path, value] of settings) {
      if (!stronger.some((taken) => isSamePathOrRelated(taken, path))) merged.set(path, { value, origin: origin(path) })
    }
  }
  return merged
}

/** Names an origin for people: `--track`, or the preset's name. */
export function describeOrigin(origin: Origin): string {
  switch (origin.kind) {
    case 'flag':
      return origin.flag
    case 'env':
      return origin.variable
    case 'file':
      return origin.path
    case 'preset':
      return `preset ${origin.name}`
    case 'profile':
      return `profile ${origin.name}`
    case 'default':
      return 'default'
    default:
      return origin satisfies never
  }
}

function isSamePathOrRelated(a: SettingPath, b: SettingPath): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)
}

function isSection(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
