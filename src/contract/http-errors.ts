import { z } from 'zod'

/** Body of a 400: exactly these four fields. */
export const validationErrorResponseSchema = z.strictObject({
  statusCode: z.literal(400),
  code: z.literal('FST_ERR_VALIDATION'),
  error: z.literal('Bad Request'),
  message: z.string(),
})
export type ValidationErrorResponse = z.infer<typeof validationErrorResponseSchema>

/** Body of a 401, 403 or 404. Every field is optional, and others are allowed. */
export const operationMessageSchema = z.looseObject({
  message: z.string().optional(),
  error: z.string().optional(),
  statusCode: z.int().optional(),
  errorCode: z.string().optional(),
  code: z.string().optional(),
})
export type OperationMessage = z.infer<typeof operationMessageSchema>
