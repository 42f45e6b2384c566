/**
 * Takes the place of zod in the bundles of the n8n and the Node-RED node: 4 KB instead of 500. It has the part that
 * `src/contract` and `src/client` use, and a test compares both on the schemas of the contract.
 */

type Path = readonly PropertyKey[]
type Issue = { readonly path: Path; readonly message: string }
type Outcome = { readonly data: unknown } | { readonly issues: readonly Issue[] }
type Read = (value: unknown, path: Path) => Outcome

const bad = (path: Path, message: string): Outcome => ({ issues: [{ path, message }] })
const typeName = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

class Schema {
  readonly run: Read

  constructor(run: Read) {
    this.run = run
  }

  safeParse(value: unknown) {
    const outcome = this.run(value, [])
    if ('data' in outcome) return { success: true, data: outcome.data }
    return { success: false, error: { issues: outcome.issues } }
  }

  parse(value: unknown): unknown {
    const outcome = this.run(value, [])
    if ('data' in outcome) return outcome.data
    throw new Error(outcome.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
  }

  meta = () => this
  optional = () => new Schema((value, path) => (value === undefined ? { data: undefined } : this.run(value, path)))
  nullable = () => new Schema((value, path) => (value === null ? { data: null } : this.run(value, path)))
  default = (other: unknown) =>
    new Schema((value, path) => (value === undefined ? { data: other } : this.run(value, path)))
  prefault = (other: unknown) => new Schema((value, path) => this.run(value === undefined ? other : value, path))
  catch = (other: unknown) =>
    new Schema((value, path) => {
      const outcome = this.run(value, path)
      return 'data' in outcome ? outcome : { data: other }
    })
  pipe = (next: Schema) => this.#after((data, path) => next.run(data, path))
  transform = (change: (data: never) => unknown) => this.#after((data) => ({ data: change(data as never) }))
  trim = () => this.transform((text: string) => text.trim())
  refine = (isGood: (data: never) => unknown, message: string) =>
    this.#after((data, path) => (isGood(data as never) ? { data } : bad(path, message)))
  regex = (pattern: RegExp) => this.refine((text: string) => pattern.test(text), `must match ${pattern}`)
  min = (least: number) => this.refine((data: never) => sizeOf(data) >= least, `must be at least ${least}`)
  max = (most: number) => this.refine((data: never) => sizeOf(data) <= most, `must be at most ${most}`)

  #after(next: Read): Schema {
    return new Schema((value, path) => {
      const outcome = this.run(value, path)
      return 'data' in outcome ? next(outcome.data, path) : outcome
    })
  }
}

const sizeOf = (data: number | string | readonly unknown[]) => (typeof data === 'number' ? data : data.length)

/** A schema of all values that pass a check. */
const only = (expected: string, isGood: (value: unknown) => boolean) =>
  new Schema((value, path) =>
    isGood(value) ? { data: value } : bad(path, `expected ${expected}, received ${typeName(value)}`),
  )

/** @param rest what happens to the keys that the shape does not name */
function shaped(shape: Readonly<Record<string, Schema>>, rest: 'drop' | 'keep' | 'refuse'): Schema {
  return new Schema((value, path) => {
    if (typeName(value) !== 'object') return bad(path, `expected object, received ${typeName(value)}`)
    const from = value as Readonly<Record<string, unknown>>
    const foreign = Object.keys(from).filter((key) => !Object.hasOwn(shape, key))
    const data: Record<string, unknown> = rest === 'keep' ? { ...from } : {}
    const issues: Issue[] = []
    if (rest === 'refuse' && foreign.length > 0) issues.push({ path, message: `unknown: ${foreign.join(', ')}` })
    for (const [key, schema] of Object.entries(shape)) {
      const outcome = schema.run(from[key], [...path, key])
      if ('issues' in outcome) issues.push(...outcome.issues)
      else if (outcome.data !== undefined || key in from) data[key] = outcome.data
    }
    return issues.length > 0 ? { issues } : { data }
  })
}

const string = () => only('string', (value) => typeof value === 'string')
const number = () => only('number', Number.isFinite)

export const z = {
  string,
  number,
  int: () => only('int', Number.isSafeInteger),
  boolean: () => only('boolean', (value) => typeof value === 'boolean'),
  unknown: () => only('anything', () => true),
  url: () => only('an address', (value) => typeof value === 'string' && URL.canParse(value.trim())),
  literal: (one: unknown) => {
    const allowed = Array.isArray(one) ? one : [one]
    return only(`one of ${allowed.join(', ')}`, (value) => allowed.includes(value))
  },
  enum: (allowed: readonly unknown[]) => only(`one of ${allowed.join(', ')}`, (value) => allowed.includes(value)),
  array: (element: Schema) =>
    new Schema((value, path) => {
      if (!Array.isArray(value)) return bad(path, `expected array, received ${typeName(value)}`)
      const outcomes = Array.from(value, (each, index) => element.run(each, [...path, index]))
      const issues = outcomes.flatMap((outcome) => ('issues' in outcome ? outcome.issues : []))
      return issues.length > 0 ? { issues } : { data: outcomes.map((outcome) => 'data' in outcome && outcome.data) }
    }),
  union: (schemas: readonly Schema[], { error = 'fits nothing' }: { readonly error?: string } = {}) =>
    new Schema((value, path) => {
      const fitting = schemas.map((schema) => schema.run(value, path)).find((outcome) => 'data' in outcome)
      return fitting ?? bad(path, error)
    }),
  object: (shape: Readonly<Record<string, Schema>>) => shaped(shape, 'drop'),
  looseObject: (shape: Readonly<Record<string, Schema>>) => shaped(shape, 'keep'),
  strictObject: (shape: Readonly<Record<string, Schema>>) => shaped(shape, 'refuse'),
  coerce: { number: () => new Schema((value, path) => number().run(Number(value), path)) },
}
