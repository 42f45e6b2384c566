import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { bundle } from '../../build.js'
import { wrapped } from './licences.js'

/** A package whose code is part of `dist`. */
export interface BundledPackage {
  readonly name: string
  readonly version: string
  /** SPDX expression. */
  readonly licence: string
  /** Its copyright lines. */
  readonly copyright: readonly string[]
  /** The text of its licence in paragraphs, without title and copyright lines. */
  readonly terms: string
}

const manifestSchema = z.object({
  ...{ name: z.string(), version: z.string(), license: z.string() },
  author: z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)]).optional(),
})

const TITLE = /^[#\s(]*(the )?(MIT|ISC|BSD)\b[^.]*licen[cs]e[^.]*$/i
const COPYRIGHT = /^\s*Copyright (?!notice|owner|holder|license|\[)/i

/** The licence of each package whose code is part of `dist`. Packages with the same terms share one text. */
export function bundledLicences(): string {
  const byTerms = new Map<string, string[]>()
  for (const { name, version, licence, copyright, terms } of bundledPackages()) {
    const owner = [`${name} ${version}, ${licence}`, ...copyright.map((line) => `  ${line}`)]
    byTerms.set(terms, [...(byTerms.get(terms) ?? []), ...owner])
  }
  return [...byTerms]
    .map(([terms, owners]) => {
      const paragraphs = terms.split('\n\n').map((paragraph) => wrapped(paragraph, / /))
      return [owners.join('\n'), ...paragraphs].join('\n\n')
    })
    .join('\n\n')
}

/**
 * The packages whose code is part of `dist`.
 *
 * @throws {Error} for a package whose licence is unknown
 */
export function bundledPackages(): readonly BundledPackage[] {
  const packages = bundle({ write: false }).map((folder) => {
    const path = fileURLToPath(new URL(`../../${folder}/`, import.meta.url))
    const manifest = manifestSchema.parse(JSON.parse(readFileSync(`${path}package.json`, 'utf8')))
    const file = readdirSync(path).find((name) => /^licen[cs]e/i.test(name))
    return { ...manifest, text: file === undefined ? undefined : readFileSync(`${path}${file}`, 'utf8') }
  })
  const mit = termsOf(packages.find(({ license, text }) => license === 'MIT' && text !== undefined)?.text ?? '')
  return packages.map(({ name, version, license: licence, author, text }) => {
    if (text !== undefined) {
      const copyright = text.split('\n').filter((line) => COPYRIGHT.test(line))
      return { name, version, licence, copyright: copyright.map((line) => line.trim()), terms: termsOf(text) }
    }
    // A few name their licence and their author in package.json alone.
    if (licence !== 'MIT' || author === undefined) throw new Error(`${name} has no text of its licence.`)
    return { name, version, licence, copyright: [`Copyright (c) ${author}`], terms: mit }
  })
}

function termsOf(text: string): string {
  const lines = text.split(/\r?\n/).filter((line) => !TITLE.test(line) && !COPYRIGHT.test(line))
  const paragraphs = lines.join('\n').split(/\n\s*\n/)
  return paragraphs
    .map((paragraph) => paragraph.replace(/\s+/g, ' ').trim())
    .filter((paragraph) => paragraph !== '')
    .join('\n\n')
}
