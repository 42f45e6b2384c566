import { z } from 'zod'

/** One key of a schema, as documents and error messages speak of it. */
export interface SchemaKey {
  /** Dotted: `segments.handleSec`; of what is in a list: `watch.folders[].path`. */
  readonly path: string
  readonly description: string
  /** What may stand there: `number`, `"full" | "fast"`. */
  readonly type: string
  /** Whether further keys stand below. */
  readonly isSection: boolean
}

type JsonSchema = z.core.JSONSchema.BaseSchema

/** Every key of an object schema, sections before what is in them, in the order of the source. */
export function schemaKeys(schema: z.ZodType): readonly SchemaKey[] {
  return keysOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }), '')
}

function keysOf(schema: JsonSchema, prefix: string): readonly SchemaKey[] {
  return Object.entries(sectionOf(schema)?.properties ?? {}).flatMap(([name, property]) => {
    if (typeof property === 'boolean') return []
    const path = `${prefix}${name}`
    const below = [...keysOf(property, `${path}.`), ...keysOf(itemsOf(property), `${path}[].`)]
    const own = { path, description: property.description ?? '', type: typeOf(property), isSection: below.length > 0 }
    return [own, ...below]
  })
}

/** The object in a schema that is one, or that is one or null. */
function sectionOf(schema: JsonSchema): JsonSchema | undefined {
  if (schema.properties) return schema
  return alternatives(schema).find((option) => option.properties !== undefined)
}

/** What is in a list, as a schema; an empty one where there is no list or its items are of several kinds. */
function itemsOf({ items }: JsonSchema): JsonSchema {
  return items && typeof items === 'object' && !Array.isArray(items) ? items : {}
}

function alternatives(schema: JsonSchema): readonly JsonSchema[] {
  return (schema.anyOf ?? []).filter((option) => typeof option !== 'boolean')
}

function typeOf(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const options = alternatives(schema)
  if (options.length > 0) return options.map(typeOf).join(' | ')
  if (schema.type === 'array') {
    return schema.items && typeof schema.items === 'object' && !Array.isArray(schema.items)
      ? `list of ${typeOf(schema.items)}`
      : 'list'
  }
  const kind = schema.type === 'integer' ? 'whole number' : (schema.type ?? 'any')
  return `${kind}${range(schema)}`
}

function range({ minimum, maximum, exclusiveMinimum }: JsonSchema): string {
  const low = exclusiveMinimum === undefined ? minimum : undefined
  // zod writes the bounds of a safe integer into every integer: they say nothing to a person.
  const high = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum
  if (exclusiveMinimum !== undefined) return ` above ${exclusiveMinimum}`
  if (low !== undefined && low > Number.MIN_SAFE_INTEGER && high !== undefined) return ` from ${low} to ${high}`
  if (low !== undefined && low > Number.MIN_SAFE_INTEGER) return ` from ${low}`
  return high === undefined ? '' : ` to ${high}`
}
