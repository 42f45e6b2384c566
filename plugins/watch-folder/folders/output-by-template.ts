import { basename, dirname, extname, join, relative, sep } from 'node:path'
import { UsageError } from '../../../src/core/errors.js'

/** The values of a template. */
interface NameParts {
  /** Path of the source within its folder. */
  readonly path: string
  readonly preset: string
  /** Time at which the source was taken, in Unix milliseconds. */
  readonly takenMs: number
}

/**
 * Fills a template: `{folder}`, `{name}`, `{ext}`, `{preset}`, `{date}` (YYYY-MM-DD, UTC). The result stays below `out`
 * whatever the template and the names contain: each part is one plain name.
 *
 * @returns the absolute folder, and the name without its extension, which follows from the container
 * @throws {UsageError} `ERR_OUTPUT_NAME` if nothing is left of the name
 */
export function outputByTemplate(out: string, template: string, { path, preset, takenMs }: NameParts) {
  const ext = extname(path)
  const values: Readonly<Record<string, string>> = {
    folder: dirname(path) === '.' ? '' : dirname(path),
    name: basename(path, ext),
    ext,
    preset: basename(preset, '.json'),
    date: new Date(takenMs).toISOString().slice(0, 10),
  }
  const filled = template.replace(/\{(folder|name|ext|preset|date)\}/g, (_, key: string) => values[key] ?? '')
  const parts = filled.split('/').filter((part) => part !== '' && part !== '.' && part !== '..')
  const name = parts.pop()
  const target = join(out, ...parts)
  const inside = relative(out, target)
  if (name === undefined || name === ext || inside.startsWith(`..${sep}`))
    throw new UsageError('ERR_OUTPUT_NAME', `The name template ${template} leaves no name for ${path}.`, {
      input: path,
      remedies: ['Use {name} in the template.'],
    })
  return { folder: target, stem: name.endsWith(ext) && ext !== '' ? name.slice(0, -ext.length) : name }
}
