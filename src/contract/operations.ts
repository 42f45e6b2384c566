import type { z } from 'zod'
import {
  getFilesStatusAnswerSchema,
  outputFileUrlSchema,
  pingAnswerSchema,
  registerFileAnswerSchema,
  registerFileFromUrlAnswerSchema,
  startProcessAnswerSchema,
} from './answers.js'
import {
  getFilesStatusRequestSchema,
  getOutputFileUrlRequestSchema,
  registerFileFromUrlRequestSchema,
  registerFileRequestSchema,
  startProcessRequestSchema,
} from './requests.js'

/** One operation of the service, used by both the client and the service. */
export interface Operation {
  readonly name: string
  readonly method: 'GET' | 'POST'
  /** Path below the base address. */
  readonly path: string
  readonly authenticated: boolean
  /** Body of the request; null if it has none. */
  readonly request: z.ZodType | null
  readonly answer: z.ZodType
  /** Error statuses of the interface: 400 has a validation body, the others have an operation message. */
  readonly errors: readonly number[]
  readonly summary: string
}

/** The six operations of interface version 1.0.0. */
export const OPERATIONS = {
  ping: {
    name: 'ping',
    method: 'GET',
    path: '/api/v1/service-health/ping',
    authenticated: false,
    request: null,
    answer: pingAnswerSchema,
    errors: [],
    summary: 'Reports that the service is alive.',
  },
  registerFile: {
    name: 'registerFile',
    method: 'POST',
    path: '/api/v1/registerFile',
    authenticated: true,
    request: registerFileRequestSchema,
    answer: registerFileAnswerSchema,
    errors: [400, 401, 403],
    summary: 'Registers a file and returns a signed link to upload its bytes.',
  },
  registerFileFromUrl: {
    name: 'registerFileFromUrl',
    method: 'POST',
    path: '/api/v1/registerFileFromUrl',
    authenticated: true,
    request: registerFileFromUrlRequestSchema,
    answer: registerFileFromUrlAnswerSchema,
    errors: [400, 401, 403],
    summary: 'Registers a file that the service downloads from a public address.',
  },
  startProcess: {
    name: 'startProcess',
    method: 'POST',
    path: '/api/v1/startProcess',
    authenticated: true,
    request: startProcessRequestSchema,
    answer: startProcessAnswerSchema,
    errors: [400, 401, 403, 404],
    summary: 'Starts the processing of a registered file.',
  },
  getFilesStatus: {
    name: 'getFilesStatus',
    method: 'POST',
    path: '/api/v1/getFilesStatus',
    authenticated: true,
    request: getFilesStatusRequestSchema,
    answer: getFilesStatusAnswerSchema,
    errors: [400, 401, 403],
    summary: 'Reports status, error code and progress of up to 100 files, in the order of the request.',
  },
  getOutputFileUrl: {
    name: 'getOutputFileUrl',
    method: 'POST',
    path: '/api/v1/getOutputFileUrl',
    authenticated: true,
    request: getOutputFileUrlRequestSchema,
    answer: outputFileUrlSchema,
    errors: [400, 401, 403, 404],
    summary: 'Returns a signed, time-limited link to the output of a succeeded file.',
  },
} as const satisfies Record<string, Operation>

export type OperationName = keyof typeof OPERATIONS
