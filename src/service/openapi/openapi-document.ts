import { z } from 'zod'
import {
  OPERATIONS,
  type Operation,
  operationMessageSchema,
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

/** Builds OpenAPI 3.1 for the whole interface from the contract's schemas. @param scope the OAuth scope of tokens */
export function openApiDocument(scope: string): Json {
  const operations: readonly Operation[] = Object.values(OPERATIONS)
  return {
    openapi: '3.1.0',
    info: {
      title: 'File Voice Regeneration Service',
      version: '1.0.0',
      description:
        'Register a file. Upload its bytes to the signed link, or let the service download it from a URL. Then start processing, poll the status and download the output.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    paths: Object.fromEntries(
      operations.map((operation) => [operation.path, { [operation.method.toLowerCase()]: describe(operation) }]),
    ),
    webhooks: { processingEvent: { post: webhook('post'), put: webhook('put'), get: webhook('get') } },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: `Scope: ${scope}` },
      },
      schemas: {
        ValidationErrorResponse: jsonSchema(validationErrorResponseSchema, 'output'),
        OperationMessage: jsonSchema(operationMessageSchema, 'output'),
        WebhookBody: jsonSchema(webhookBodySchema, 'output'),
      },
    },
  }
}

/** Bytes that are not an HTTP request get a 400 at every path, even if the interface lists no error. */
const BROKEN_REQUEST = [400] as const

function describe(operation: Operation): Json {
  const errors = operation.errors.length > 0 ? operation.errors : BROKEN_REQUEST
  return {
    operationId: operation.name,
    summary: operation.summary,
    security: operation.authenticated ? [{ bearer: [] }] : [],
    ...(operation.request && {
      requestBody: { required: true, content: json(jsonSchema(operation.request, 'input')) },
    }),
    responses: {
      200: { description: 'Success.', content: json(jsonSchema(operation.answer, 'output')) },
      ...Object.fromEntries(errors.map((status) => [status, errorResponse(status)])),
    },
  }
}

function errorResponse(status: number): Json {
  const name = status === 400 ? 'ValidationErrorResponse' : 'OperationMessage'
  return { description: ERROR_TEXTS[status] ?? 'Refused.', content: json({ $ref: `#/components/schemas/${name}` }) }
}

function webhook(method: 'post' | 'put' | 'get'): Json {
  const schema = { $ref: '#/components/schemas/WebhookBody' }
  return {
    operationId: `${method}ProcessingEvent`,
    // Carries the webhook's own secret, if its user has set one; never a bearer token of this service.
    security: [],
    summary: 'Sent for a file that was started with options.webhook.',
    ...(method !== 'get'
      ? { requestBody: { required: true, content: json(schema) } }
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

/** Converts to JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}
