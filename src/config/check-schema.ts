import type { z } from 'zod'
import { UsageError } from '../core/errors.js'
import { docsPage } from '../core/package-folder.js'
import { nearest } from './nearest.js'
import { schemaKeys } from './schema-keys.js'

/**
 * Validates a value against a schema. Reports every wrong key with the nearest right one, and every wrong value with
 * what is allowed. Does not repeat values that could be secrets.
 *
 * @param source origin of the value, named in the message: a file's path, `--track`
 * @throws {UsageError} `ERR_CONFIG_KEY` or `ERR_CONFIG_VALUE`
 */
export function checkSchema<S extends z.ZodType>(schema: S, value: unknown, source: string): z.infer<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const problems = result.error.issues.flatMap((issue) => {
    const [problem = '', ...more] = describeIssue(schema, issue, value, dotted(issue.path))
    return [issue.code === 'invalid_type' && issue.path.length === 0 ? `it ${problem}` : problem, ...more]
  })
  const isKey = result.error.issues[0]?.code === 'unrecognized_keys'
  throw new UsageError(isKey ? 'ERR_CONFIG_KEY' : 'ERR_CONFIG_VALUE', `${source}: ${problems.join('; ')}.`, {
    remedies: [
      `See ${docsPage('configuration.md')} for all keys and values, and ${docsPage('service.md')} for those of the service.`,
    ],
  })
}

/** Validates the value of a flag, given under its key. @throws {UsageError} `ERR_CONFIG_VALUE` */
export function checkFlag(schema: z.ZodType, value: unknown, flag: string): void {
  const issue = schema.safeParse(value).error?.issues[0]
  if (!issue) return
  throw new UsageError('ERR_CONFIG_VALUE', `${flag} ${describeIssue(schema, issue, value, '').join('; ')}.`, {
    remedies: ['Correct the value. --help lists all flags and their values.'],
  })
}

/** @param path of the value, as the message shows it; empty if the message names the value already */
function describeIssue(schema: z.ZodType, issue: z.core.$ZodIssue, value: unknown, path: string): readonly string[] {
  const where = path === '' ? '' : `"${path}" `
  switch (issue.code) {
    case 'unrecognized_keys':
      return unknownKeys(
        schema,
        issue.keys.map((key) => (path === '' ? key : `${path}.${key}`)),
      )
    case 'invalid_type':
      return [`${where}${valueAt(value, issue.path) === undefined ? 'is missing' : `must be ${kind(issue)}`}`]
    case 'invalid_value':
      return [`${where}must be one of ${issue.values.map((allowed) => JSON.stringify(allowed)).join(', ')}`]
    case 'too_small':
      return [`${where}must be ${issue.inclusive === false ? 'above' : 'at least'} ${issue.minimum}${unit(issue)}`]
    case 'too_big':
      return [`${where}must be ${issue.inclusive === false ? 'below' : 'at most'} ${issue.maximum}${unit(issue)}`]
    default:
      return [`${where}${valueAt(value, issue.path) === undefined ? 'is missing' : issue.message}`]
  }
}

/** Formats a path as `watch.folders[0].path`. */
function dotted(keys: readonly PropertyKey[]): string {
  return keys
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '')
}

/** Describes the unknown keys of one section. The keys that it has follow the last one that resembles none. */
function unknownKeys(schema: z.ZodType, keys: readonly string[]): readonly string[] {
  const paths = schemaKeys(schema).map((key) => key.path)
  const section = inSchema(keys[0] ?? '').replace(/[^.]*$/, '')
  const siblings = paths.filter((known) => known.startsWith(section) && !known.slice(section.length).includes('.'))
  const known = siblings.map((sibling) => sibling.slice(section.length)).filter((name) => name !== '$schema')
  const guesses = keys.map((key) => guessed(inSchema(key), siblings, paths))
  return keys.map((key, index) => {
    const guess = guesses[index]
    if (guess) return `unknown key "${key}" (did you mean "${numbered(guess, key)}"?)`
    const isLast = index === guesses.lastIndexOf(undefined)
    return `unknown key "${key}"${isLast ? ` (known here: ${known.join(', ')})` : ''}`
  })
}

function guessed(path: string, siblings: readonly string[], paths: readonly string[]): string | undefined {
  // The right name in the wrong section is as common as a typo.
  const elsewhere = paths.find((known) => lastName(known).toLowerCase() === lastName(path).toLowerCase())
  return nearest(path, siblings) ?? elsewhere ?? nearest(path, paths) ?? nearestName(path, paths)
}

/** The key of a schema behind the key of an entry: `folders[].path` for `folders[1].path`. */
function inSchema(key: string): string {
  return key.replaceAll(/\[\d+\]/g, '[]')
}

/** Gives a path of the schema the entries of the named one: `folders[].path` becomes `folders[1].path`. */
function numbered(guess: string, named: string): string {
  const entries = named.match(/\[\d+\]/g) ?? []
  return guess.replaceAll('[]', () => entries.shift() ?? '[]')
}

function nearestName(path: string, paths: readonly string[]): string | undefined {
  const name = nearest(lastName(path), paths.map(lastName))
  return paths.find((known) => lastName(known) === name)
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1)
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | null | undefined)?.[key], value)
}

/** The kind of value that a key takes. The end of its name gives the unit, and `"10s"` is a common mistake. */
function kind({ expected, path }: z.core.$ZodIssueInvalidType): string {
  const suffix = expected === 'number' ? /(?:Sec|Ms|Bytes)$/.exec(String(path.at(-1)))?.[0] : undefined
  return suffix === undefined ? article(expected) : `a number of ${UNITS[suffix]}`
}

const UNITS: Readonly<Record<string, string>> = { Sec: 'seconds', Ms: 'milliseconds', Bytes: 'bytes' }

function article(expected: string): string {
  const names: Readonly<Record<string, string>> = {
    int: 'a whole number',
    boolean: 'true or false',
    array: 'a list',
    record: 'an object',
    object: 'an object',
    string: 'a string',
  }
  return names[expected] ?? `a ${expected}`
}

function unit(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): string {
  if (/Sec$/.test(String(issue.path.at(-1)))) return ' seconds'
  if (issue.origin === 'string') return ' characters long'
  return issue.origin === 'array' ? ' entries long' : ''
}
