import { z } from 'zod'
import { fileErrorCodeSchema } from './answers.js'

export const webhookTypeSchema = z.enum(['status-updated', 'progress-updated', 'error-updated'])
export type WebhookType = z.infer<typeof webhookTypeSchema>

/** The states of webhook messages, which differ from those of `getFilesStatus`. */
export const webhookStatusSchema = z.enum([
  'Ready',
  'Uploading',
  'Queued',
  'In Progress',
  'Processed',
  "Didn't Pass Validation",
  'Retry Needed',
  'Failed-Not-Deleted',
  'Deleted',
])
export type WebhookStatus = z.infer<typeof webhookStatusSchema>

export const webhookMethodSchema = z.enum(['POST', 'PUT', 'GET'])
export type WebhookMethod = z.infer<typeof webhookMethodSchema>

export const secretPositionSchema = z.enum(['header', 'query', 'body'])
export type SecretPosition = z.infer<typeof secretPositionSchema>

export const webhookMessageSchema = z.object({
  fileId: z.string(),
  status: webhookStatusSchema,
  progress: z.int().min(0).max(100),
  errorCode: fileErrorCodeSchema,
})
export type WebhookMessage = z.infer<typeof webhookMessageSchema>

/** JSON body of a POST or PUT webhook. It contains `secret` only if the secret position is `body`. */
export const webhookBodySchema = z.object({
  userId: z.string(),
  type: webhookTypeSchema,
  message: webhookMessageSchema,
  secret: z.string().optional(),
})
export type WebhookBody = z.infer<typeof webhookBodySchema>

/** Query of a GET webhook: `message` is the message object as a JSON string. */
export const webhookQuerySchema = z.object({
  userId: z.string(),
  type: webhookTypeSchema,
  message: z.string(),
  secret: z.string().optional(),
})
