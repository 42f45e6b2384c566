import { webhookBodySchema } from '../../src/contract/index.js'

/**
 * Recognizes the body of a webhook of the service, as an `http in` node gives it.
 *
 * @returns the file id that it names; undefined for every other payload
 */
export function webhookFileId(payload: unknown): string | undefined {
  const parsed = webhookBodySchema.safeParse(payload)
  return parsed.success ? parsed.data.message.fileId : undefined
}
