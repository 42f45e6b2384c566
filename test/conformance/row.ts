import { expect } from 'vitest'
import type { z } from 'zod'
import { operationMessageSchema, validationErrorResponseSchema } from '../../src/contract/index.js'
import type { Target } from './target.js'

/** A sentence of the interface, and how a service shows that it keeps it. */
export interface Row {
  readonly section: string
  readonly sentence: string
  readonly check: (target: Target) => Promise<void>
}

/** The answer's body, which must be of that shape and carry nothing that the shape does not name. */
export async function answered<T>(answer: Response, schema: z.ZodType<T>, status = 200): Promise<T> {
  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-type')).toContain('application/json')
  return schema.parse(await answer.json())
}

export async function refusedAsInvalid(answer: Response): Promise<void> {
  await answered(answer, validationErrorResponseSchema, 400)
}

export async function refused(answer: Response, status: 401 | 403 | 404): Promise<void> {
  await answered(answer, operationMessageSchema, status)
}
