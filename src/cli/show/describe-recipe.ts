import { flatten } from '../../config/merge-layers.js'
import { DEFAULT_RECIPE, type RecipePart } from '../../config/preset-schema.js'

/** Lists a preset's settings, one per line, and marks defaults. */
export function describeRecipe(recipe: RecipePart): string {
  const decided = flatten(recipe)
  const isDecided = (path: string) => [...decided.keys()].some((key) => key === path || key.startsWith(`${path}.`))
  const defaults = [...flatten(DEFAULT_RECIPE)].filter(([path]) => !isDecided(path))
  const lines = [
    ...[...decided].map(([path, value]) => [path, value, '']),
    ...defaults.map(([path, value]) => [path, value, '  (default)']),
  ]
  return lines
    .filter(([path]) => path !== 'description' && path !== '$schema')
    .map(([path, value, note]) => `  ${String(path).padEnd(24)} ${JSON.stringify(value)}${note}`)
    .join('\n')
}
