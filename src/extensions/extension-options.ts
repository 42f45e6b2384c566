import { z } from 'zod'
import { checkSchema } from '../config/check-schema.js'
import { schemaKeys } from '../config/schema-keys.js'
import { thrownMessage, UsageError } from '../core/errors.js'

/** The required part of Standard Schema (standardschema.dev), which zod, valibot and arktype implement. */
interface StandardSchema {
  readonly '~standard': {
    validate(value: unknown): StandardResult | Promise<StandardResult>
  }
}
type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] }

/** A schema of options: a plain object of JSON Schema, which needs no package, or a Standard Schema. */
export type ExtensionOptionsSchema = StandardSchema | Readonly<Record<string, unknown>>

/**
 * Validates the options of an extension against its schema.
 *
 * @param source names the extension and the file in messages
 * @returns the options with the schema's defaults
 * @throws {UsageError} `ERR_EXTENSION_OPTIONS`; `ERR_EXTENSION_MANIFEST` if the schema itself is invalid
 */
export async function checkOptions(
  schema: ExtensionOptionsSchema | undefined,
  options: unknown,
  source: string,
): Promise<unknown> {
  if (schema === undefined) return checkJsonSchema({ type: 'object', additionalProperties: false }, options, source)
  return isStandard(schema) ? checkStandard(schema, options, source) : checkJsonSchema(schema, options, source)
}

function isStandard(schema: ExtensionOptionsSchema): schema is StandardSchema {
  return '~standard' in schema
}

async function checkStandard(schema: StandardSchema, options: unknown, source: string): Promise<unknown> {
  const result = await schema['~standard'].validate(options)
  if (result.issues === undefined) return result.value
  const problems = result.issues.map(({ path = [], message }) => [path.map(keyOf).join('.'), message].filter(Boolean))
  throw optionsWrong(`${source}: ${problems.map((parts) => parts.join(': ')).join('; ')}`, undefined, [])
}

/** Converts a step of a path: a key, or an object with a key. */
function keyOf(step: unknown): string {
  return typeof step === 'object' && step !== null && 'key' in step ? String(step.key) : String(step)
}

function checkJsonSchema(schema: object, options: unknown, source: string): unknown {
  const readable = readJsonSchema(schema, source)
  try {
    return checkSchema(readable, options, source)
  } catch (cause) {
    if (!(cause instanceof UsageError)) throw cause
    throw optionsWrong(cause.message.replace(/\.$/, ''), cause, describeKeys(readable))
  }
}

function readJsonSchema(schema: object, source: string): z.ZodType {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
  } catch (cause) {
    const why = thrownMessage(cause)
    throw new UsageError('ERR_EXTENSION_MANIFEST', `${source}: the schema of its options is invalid (${why}).`, {
      cause,
      remedies: ['Use JSON Schema (draft 2020-12) without conditions, or a Standard Schema such as a zod object.'],
    })
  }
}

function describeKeys(schema: z.ZodType): readonly string[] {
  const keys = schemaKeys(schema).map(({ path, type, description }) =>
    [`${path} (${type})`, description?.replace(/\.$/, '')].filter(Boolean).join(': '),
  )
  return [keys.length > 0 ? `Its options are ${keys.join('; ')}.` : 'It has no options: write only its name.']
}

function optionsWrong(problem: string, cause: unknown, remedies: readonly string[]): UsageError {
  return new UsageError('ERR_EXTENSION_OPTIONS', `${problem}.`, { cause, remedies })
}
