import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const FOLDER = fileURLToPath(new URL('../../presets/', import.meta.url))
const described = z.object({ description: z.string() })

/** Markdown table of the presets that come with voxmux. */
export function presetTable(): string {
  const rows = readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => {
      const { description } = described.parse(JSON.parse(readFileSync(`${FOLDER}${file}`, 'utf8')))
      return `| \`${file.slice(0, -'.json'.length)}\` | ${description} |`
    })
  return ['| preset | for |', '| --- | --- |', ...rows].join('\n')
}
