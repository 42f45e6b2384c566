import { z } from 'zod'
import { FILE_ERROR_CODES } from './file-error-codes.js'

/** A signed link or any absolute address. */
const uri = z.url()
/** Seconds since 1970-01-01T00:00:00Z. */
const unixTimestamp = z.int()

export const fileErrorCodeSchema = z.literal(FILE_ERROR_CODES)

export const pingAnswerSchema = z.object({ status: z.string() })
export type PingAnswer = z.infer<typeof pingAnswerSchema>

const registered = {
  file_id: z.string(),
  client_file_id: z.string(),
  file_name: z.string().meta({ description: 'Base name of the file without extension.' }),
  success: z.boolean().optional(),
  error_code: z.literal([0, 500]).optional(),
}

export const registeredFileSchema = z.object({
  ...registered,
  file_upload_link: uri,
  file_upload_expiry: unixTimestamp,
})
export type RegisteredFile = z.infer<typeof registeredFileSchema>

export const registeredFileFromUrlSchema = z.object(registered)
export type RegisteredFileFromUrl = z.infer<typeof registeredFileFromUrlSchema>

export const registerFileAnswerSchema = z.object({ registered_file: registeredFileSchema })
export type RegisterFileAnswer = z.infer<typeof registerFileAnswerSchema>

export const registerFileFromUrlAnswerSchema = z.object({ registered_file: registeredFileFromUrlSchema })
export type RegisterFileFromUrlAnswer = z.infer<typeof registerFileFromUrlAnswerSchema>

/** Processing states in `getFilesStatus`. Webhooks use another list: see `webhookStatusSchema`. */
export const PROCESSING_STATES = ['Pending', 'InProgress', 'NotFound', 'Failed', 'Succeeded'] as const
export const processingStateSchema = z.enum(PROCESSING_STATES)

export const fileProcessingStatusSchema = z.strictObject({
  id: z.string(),
  status: processingStateSchema,
  errorCode: fileErrorCodeSchema,
  progress: z.number().min(0).max(100),
})
export type FileProcessingStatus = z.infer<typeof fileProcessingStatusSchema>

export const getFilesStatusAnswerSchema = z.array(fileProcessingStatusSchema)

/** HTTP-style numbers that `startProcess` may put into `error.code`. */
export const START_ERROR_CODES = [
  100, 101, 102, 103, 200, 201, 202, 203, 204, 205, 206, 207, 300, 301, 302, 303, 304, 305, 307, 308, 400, 401, 402,
  403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 419, 420, 421, 422, 423, 424, 426,
  428, 429, 431, 451, 500, 501, 502, 503, 504, 505, 507, 511,
] as const

export const startErrorSchema = z.object({ code: z.literal(START_ERROR_CODES), message: z.string() })
export type StartError = z.infer<typeof startErrorSchema>

export const startProcessAnswerSchema = z.object({ file_id: z.string(), error: startErrorSchema.nullable() })
export type StartProcessAnswer = z.infer<typeof startProcessAnswerSchema>

export const outputFileUrlSchema = z.object({ url: uri, expiry: unixTimestamp })
export type OutputFileUrl = z.infer<typeof outputFileUrlSchema>

/** A link as a client reads it. Without a readable expiry it is used at once and only once, because its file is paid for. */
export const clientOutputFileUrlSchema = z.object({ url: uri, expiry: unixTimestamp.catch(0) })

/** A file record. The interface leaves it open, and does not define which operation returns it. */
export const userFileSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  updatedTimestamp: z.int(),
  createdTimestamp: z.int(),
  multi_speaker: z.boolean(),
  inputWaveformLocation: z.unknown().refine((value) => value !== undefined, 'is required'),
  outputWaveformLocation: z.unknown().refine((value) => value !== undefined, 'is required'),
  location: z.string().optional(),
  file_duration: z.number().optional(),
  model: z.string().optional(),
  inputFiles: z.array(z.unknown()).optional(),
  outputFiles: z.array(z.unknown()).optional(),
  progress: z.number().optional(),
  statusMessage: z.string().optional(),
  start: z.number().optional(),
  end: z.number().optional(),
})

export const tokenAnswerSchema = z.object({
  access_token: z.string().min(1),
  token_type: z.string(),
  expires_in: z.number(),
  ext_expires_in: z.number().optional(),
})
export type TokenAnswer = z.infer<typeof tokenAnswerSchema>
