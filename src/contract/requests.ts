import { z } from 'zod'

/** The eight values of `options.output_type`; omitted means the original file's format. */
export const outputTypeSchema = z.enum(['wav', 'mp3', 'flac', 'aiff', 'ogg', 'opus', 'aac', 'm4a'])
export type OutputType = z.infer<typeof outputTypeSchema>

/** The only value of `options.model` that the service accepts. */
export const SERVICE_MODEL = 'regen_v1'

/** Limits of the interface's "Limits" table. */
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

export const registerFileFromUrlRequestSchema = z.strictObject({
  file_to_register: z.strictObject({
    client_file_id: clientFileId,
    source_url: z.url().meta({ description: 'Publicly accessible and valid for at least 1 hour.' }),
    ...partial,
  }),
})

const processOptions = {
  webhook: z.boolean().optional().meta({ description: 'Send webhook notifications for processing events.' }),
  webhook_secret: z.string().max(LIMITS.webhookSecretMaxChars).optional(),
  output_type: outputTypeSchema.optional(),
}

/** Schema of the service: strict, and `model` is exactly {@link SERVICE_MODEL}. */
export const startProcessRequestSchema = z.strictObject({
  file_id: z.string().min(1),
  options: z.strictObject({ model: z.literal(SERVICE_MODEL), ...processOptions }),
})

/** Schema of the client: the operator configures the model's real name. */
export const clientProcessOptionsSchema = z.strictObject({ model: z.string().min(1), ...processOptions })
export type ClientProcessOptions = z.infer<typeof clientProcessOptionsSchema>

export const getFilesStatusRequestSchema = z.strictObject({
  fileIds: z.array(z.string().min(1)).min(LIMITS.fileIdsMin).max(LIMITS.fileIdsMax),
})

export const getOutputFileUrlRequestSchema = z.strictObject({ fileId: z.string().min(1) })
