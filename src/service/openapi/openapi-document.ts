import { z } from 'zod'
import {
  OPERATIONS,
  type Operation,
  operationMessageSchema,
  userFileSchema,
  validationErrorResponseSchema,
  webhookBodySchema,
} from '../../contract/index.js'

type Json = Record<string, unknown>

const ERROR_TEXTS: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: 'Authentication failed.',
  403: 'Access denied.',
  404: 'File not found.',
}

/** OpenAPI 3.1 of the whole interface, made from the contract's schemas. @param scope the OAuth scope of tokens */
export function openApiDocument(scope: string): Json {
  const operations: readonly Operation[] = Object.values(OPERATIONS)
  return {
    openapi: '3.1.0',
    info: {
      title: 'File Voice Regeneration Service',
      version: '1.0.0',
      description:
        'Register a file, upload its bytes to the signed link (or have it fetched from a URL), start processing, ask for its status, download the output.',
    },
    servers: [{ url: '/' }],
    paths: Object.fromEntries(
      operations.map((operation) => [operation.path, { [operation.method.toLowerCase()]: describe(operation) }]),
    ),
    webhooks: { processingEvent: { post: webhook('body'), put: webhook('body'), get: webhook('query') } },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: `Scope: ${scope}` },
      },
      schemas: {
        ValidationErrorResponse: jsonSchema(validationErrorResponseSchema, 'output'),
        OperationMessage: jsonSchema(operationMessageSchema, 'output'),
        UserFile: jsonSchema(userFileSchema, 'output'),
        WebhookBody: jsonSchema(webhookBodySchema, 'output'),
      },
    },
  }
}

function describe(operation: Operation): Json {
  return {
    operationId: operation.name,
    summary: operation.summary,
    security: operation.authenticated ? [{ bearer: [] }] : [],
    ...(operation.request && {
      requestBody: { required: true, content: json(jsonSchema(operation.request, 'input')) },
    }),
    responses: {
      200: { description: 'Success.', content: json(jsonSchema(operation.answer, 'output')) },
      ...Object.fromEntries(operation.errors.map((status) => [status, errorResponse(status)])),
    },
  }
}

function errorResponse(status: number): Json {
  const name = status === 400 ? 'ValidationErrorResponse' : 'OperationMessage'
  return { description: ERROR_TEXTS[status] ?? 'Refused.', content: json({ $ref: `#/components/schemas/${name}` }) }
}

function webhook(payload: 'body' | 'query'): Json {
  const schema = { $ref: '#/components/schemas/WebhookBody' }
  return {
    summary: 'Sent for a file that was started with options.webhook.',
    ...(payload === 'body'
      ? { requestBody: { content: json(schema) } }
      : {
          parameters: ['userId', 'type', 'message', 'secret'].map((name) => ({
            name,
            in: 'query',
            required: name !== 'secret',
            schema: { type: 'string' },
          })),
        }),
    responses: { '2XX': { description: 'Acknowledges the event; anything else is retried.' } },
  }
}

function json(schema: Json): Json {
  return { 'application/json': { schema } }
}

/** JSON Schema 2020-12, which is what OpenAPI 3.1 speaks. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}
