import { z } from 'zod'

/** The eight values of `options.output_type`; omitted means the original file's format. */
export const outputTypeSchema = z.enum(['wav', 'mp3', 'flac', 'aiff', 'ogg', 'opus', 'aac', 'm4a'])
export type OutputType = z.infer<typeof outputTypeSchema>

/** The one value of `options.model` that the service accepts. */
export const SERVICE_MODEL = 'regen_v1'

/** Bounds of the interface's "Limits" table. */
export const LIMITS = {
  fileIdsMin: 1,
  fileIdsMax: 100,
  webhookSecretMaxChars: 1000,
  sourceUrlValidSec: 3600,
  accessTokenLifetimeSec: 3600,
} as const

const partial = {
  start: z.number().optional().meta({ description: 'Start time in seconds for partial processing.' }),
  end: z.number().optional().meta({ description: 'End time in seconds for partial processing.' }),
}

const clientFileId = z.string().meta({ description: "The client's own identifier, echoed back." })

export const registerFileRequestSchema = z.strictObject({
  file_to_register: z.strictObject({ client_file_id: clientFileId, ...partial }),
})
export type RegisterFileRequest = z.infer<typeof registerFileRequestSchema>

export const registerFileFromUrlRequestSchema = z.strictObject({
  file_to_register: z.strictObject({
    client_file_id: clientFileId,
    source_url: z.url().meta({ description: 'Publicly accessible and valid for at least 1 hour.' }),
    ...partial,
  }),
})
export type RegisterFileFromUrlRequest = z.infer<typeof registerFileFromUrlRequestSchema>

const processOptions = {
  webhook: z.boolean().optional().meta({ description: 'Send webhook notifications for processing events.' }),
  webhook_secret: z.string().max(LIMITS.webhookSecretMaxChars).optional(),
  output_type: outputTypeSchema.optional(),
}

/** What the service accepts: strict, `model` is exactly {@link SERVICE_MODEL}. */
export const startProcessRequestSchema = z.strictObject({
  file_id: z.string().min(1),
  options: z.strictObject({ model: z.literal(SERVICE_MODEL), ...processOptions }),
})
export type StartProcessRequest = z.infer<typeof startProcessRequestSchema>

/** What a client may send: the model's real name is the operator's to configure (DESIGN section 5). */
export const clientProcessOptionsSchema = z.strictObject({ model: z.string().min(1), ...processOptions })
export type ClientProcessOptions = z.infer<typeof clientProcessOptionsSchema>

export const getFilesStatusRequestSchema = z.strictObject({
  fileIds: z.array(z.string().min(1)).min(LIMITS.fileIdsMin).max(LIMITS.fileIdsMax),
})
export type GetFilesStatusRequest = z.infer<typeof getFilesStatusRequestSchema>

export const getOutputFileUrlRequestSchema = z.strictObject({ fileId: z.string().min(1) })
export type GetOutputFileUrlRequest = z.infer<typeof getOutputFileUrlRequestSchema>

/** The form fields of the identity provider's token request. */
export const tokenRequestSchema = z.object({
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
  grant_type: z.literal('client_credentials'),
  scope: z.string().min(1),
})
export type TokenRequest = z.infer<typeof tokenRequestSchema>
