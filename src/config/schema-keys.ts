import { z } from 'zod'

/** One key of a schema, for documentation and error messages. */
interface SchemaKey {
  /** Dotted: `segments.handleSec`, or inside a list `watch.folders[].path`. */
  readonly path: string
  readonly description: string
  /** The allowed values: `number`, `"full" | "fast"`. */
  readonly type: string
  /** The schema's default; undefined if it has none. */
  readonly fallback: unknown
  /** True if the key has keys of its own. */
  readonly isSection: boolean
}

type JsonSchema = z.core.JSONSchema.BaseSchema

/** All keys of an object schema in the order of the source, each section before its keys. */
export function schemaKeys(schema: z.ZodType): readonly SchemaKey[] {
  return keysOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }), '')
}

function keysOf(schema: JsonSchema, prefix: string): readonly SchemaKey[] {
  return Object.entries(propertiesOf(schema)).flatMap(([name, property]) => {
    if (typeof property === 'boolean') return []
    const path = `${prefix}${name}`
    const below = [...keysOf(property, `${path}.`), ...keysOf(itemsOf(property), `${path}[].`)]
    const { description = '', default: fallback } = property
    const own = { path, description, fallback, type: typeOf(property), isSection: below.length > 0 }
    return [own, ...below]
  })
}

/** Returns the properties of an object, or those of all objects that a value may be. */
function propertiesOf(schema: JsonSchema): NonNullable<JsonSchema['properties']> {
  return schema.properties ?? Object.assign({}, ...alternatives(schema).map(propertiesOf))
}

/** Returns the schema of a list's items; an empty one for anything else, or for items of several kinds. */
function itemsOf({ items }: JsonSchema): JsonSchema {
  return items && typeof items === 'object' && !Array.isArray(items) ? items : {}
}

function alternatives(schema: JsonSchema): readonly JsonSchema[] {
  return (schema.anyOf ?? []).filter((option) => typeof option !== 'boolean')
}

function typeOf(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const options = alternatives(schema)
  if (options.length > 0) return [...new Set(options.map(typeOf))].join(' | ')
  if (schema.type === 'array') {
    return schema.items && typeof schema.items === 'object' && !Array.isArray(schema.items)
      ? `list of ${typeOf(schema.items)}`
      : 'list'
  }
  const kind = schema.type === 'integer' ? 'whole number' : (schema.type ?? 'any')
  return `${kind}${range(schema)}`
}

function range({ minimum, maximum, exclusiveMinimum }: JsonSchema): string {
  if (exclusiveMinimum !== undefined) return ` above ${exclusiveMinimum}`
  // zod adds the limits of safe integers to every integer. They do not help a reader.
  const low = minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? '' : ` from ${minimum}`
  const high = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? '' : ` to ${maximum}`
  return `${low}${high}`
}
