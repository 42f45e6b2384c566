import { loadPreset, presetNames } from '../../config/load-preset.js'
import { flatten } from '../../config/merge-layers.js'
import { DEFAULT_RECIPE, type RecipePart } from '../../config/preset-schema.js'
import { visibleText } from '../../core/visible-text.js'
import { toggle } from '../arguments/option.js'
import { defineCommand } from '../command.js'

/** `voxmux presets [name]` */
export const command = defineCommand({
  positionals: '[name]',
  examples: [
    ['', 'list the presets'],
    ['podcast > mine.json', 'save a preset as a starting point; `voxmux run clip.wav -p mine.json` uses it'],
    ['podcast --explain', 'show all of its settings, defaults included'],
    ['./mine.json --explain', 'check your own preset'],
  ],
  build: (parser) =>
    parser
      .positional('name', { type: 'string', describe: 'Name of a preset, or path of a JSON file' })
      .option('explain', toggle('Show the settings as a table, defaults included'))
      .option('json', toggle('Print events as JSON lines on stdout')),
  run: async ({ name, explain }, { cwd, output }) => {
    const names = name === undefined ? await presetNames() : [name]
    for (const wanted of names) {
      const { preset, ...found } = await loadPreset(wanted, cwd)
      output.event({ event: 'preset', ...found, preset })
      const heading = visibleText(`${found.name.padEnd(22)} ${preset.description}`)
      if (explain) output.print(`${heading}\n${visibleText(found.path)}\n\n${describeRecipe(preset)}`)
      else output.print(name === undefined ? heading : JSON.stringify(preset, null, 2))
    }
    return 0
  },
})

/** Lists a preset's settings, one per line, and marks defaults. */
function describeRecipe(recipe: RecipePart): string {
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
