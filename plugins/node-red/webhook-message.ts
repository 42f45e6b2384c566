import { webhookBodySchema } from '../../src/contract/index.js'

/** Recognizes the body of a service's webhook in an `http in` node. @returns its file id; undefined for others */
export function webhookFileId(payload: unknown): string | undefined {
  const parsed = webhookBodySchema.safeParse(payload)
  return parsed.success ? parsed.data.message.fileId : undefined
}
