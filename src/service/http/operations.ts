import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { OPERATIONS, operationMessageSchema, validationErrorResponseSchema } from '../../contract/index.js'
import { type FileRecord, fileNameOf, notFoundEntry, toStatusEntry } from '../store/file-record.js'
import type { FileService } from '../work/file-service.js'
import { fileNotFound, RequestInvalid, tooManyFiles } from './answers.js'
import { userOf } from './authentication.js'

const errors = { 400: validationErrorResponseSchema, 401: operationMessageSchema, 403: operationMessageSchema }
const errorsWithNotFound = { ...errors, 404: operationMessageSchema }

/** A file to register, as a client sends it. */
interface AskedFile {
  readonly client_file_id: string
  readonly start?: number | undefined
  readonly end?: number | undefined
}

/** Registers the five operations that need a token, each with the contract's schemas. */
export function serveOperations(app: FastifyInstance, service: FileService): void {
  serveRegistration(app, service)
  serveProcessing(app, service)
}

function serveRegistration(instance: FastifyInstance, service: FileService): void {
  const app = instance.withTypeProvider<ZodTypeProvider>()
  const { registerFile, registerFileFromUrl } = OPERATIONS

  app.post(
    registerFile.path,
    { schema: { body: registerFile.request, response: { 200: registerFile.answer, ...errors } } },
    async (request) => {
      const asked = request.body.file_to_register
      const file = recorded(await service.register({ ...registration(asked), userId: userOf(request) }))
      const link = await service.uploadLink(file)
      const upload = { file_upload_link: link.url, file_upload_expiry: link.expirySec }
      return { registered_file: { ...registered(file, asked), ...upload } }
    },
  )

  app.post(
    registerFileFromUrl.path,
    { schema: { body: registerFileFromUrl.request, response: { 200: registerFileFromUrl.answer, ...errors } } },
    async (request) => {
      const asked = request.body.file_to_register
      requireWebAddress(asked.source_url)
      const wanted = { ...registration(asked), userId: userOf(request), sourceUrl: asked.source_url }
      const file = recorded(await service.register(wanted))
      return { registered_file: registered(file, asked) }
    },
  )
}

function serveProcessing(instance: FastifyInstance, service: FileService): void {
  const app = instance.withTypeProvider<ZodTypeProvider>()
  const { startProcess, getFilesStatus, getOutputFileUrl } = OPERATIONS

  app.post(
    startProcess.path,
    { schema: { body: startProcess.request, response: { 200: startProcess.answer, ...errorsWithNotFound } } },
    async (request) => {
      const { file_id, options } = request.body
      requireSendable(options.webhook_secret ?? '')
      const error = await service.start(userOf(request), file_id, {
        webhook: options.webhook ?? false,
        // An empty secret counts as none: the portal's applies.
        webhookSecret: options.webhook_secret || null,
        outputType: options.output_type ?? null,
      })
      if (error === 'not-found') throw fileNotFound()
      return { file_id, error }
    },
  )

  app.post(
    getFilesStatus.path,
    { schema: { body: getFilesStatus.request, response: { 200: getFilesStatus.answer, ...errors } } },
    async (request) => {
      const { fileIds } = request.body
      const files = await service.expected(userOf(request), fileIds)
      return fileIds.map((id, index) => {
        const file = files[index]
        return file ? toStatusEntry(file) : notFoundEntry(id)
      })
    },
  )

  app.post(
    getOutputFileUrl.path,
    { schema: { body: getOutputFileUrl.request, response: { 200: getOutputFileUrl.answer, ...errorsWithNotFound } } },
    async (request) => {
      const link = await service.outputLink(userOf(request), request.body.fileId)
      if (!link) throw fileNotFound()
      return { url: link.url, expiry: link.expirySec }
    },
  )
}

/** @throws {OperationRefused} 429 */
function recorded(file: FileRecord | 'too-many'): FileRecord {
  if (file === 'too-many') throw tooManyFiles()
  return file
}

/** Echoes the client's id as it was sent: a store may lose invalid Unicode, or text after a NUL. */
function registered({ id }: FileRecord, { client_file_id }: AskedFile) {
  return {
    file_id: id,
    client_file_id,
    file_name: fileNameOf(client_file_id),
    success: true,
    error_code: 0 as const,
  }
}

/** The service downloads over http and https only. Any other address would end with -17. */
function requireWebAddress(sourceUrl: string): void {
  const isWeb = ['http:', 'https:'].includes(new URL(sourceUrl).protocol)
  // A database ends a text at a NUL, which would fetch another address.
  if (isWeb && !/\p{Cc}/u.test(sourceUrl)) return
  throw new RequestInvalid(
    'body/file_to_register/source_url must be an http or https address without control characters',
  )
}

/** An HTTP header cannot contain a line break or another control character, so such a webhook could never be sent. */
function requireSendable(webhookSecret: string): void {
  if (!/(?!\t)\p{Cc}/u.test(webhookSecret)) return
  throw new RequestInvalid('body/options/webhook_secret must not contain line breaks or other control characters')
}

/** Rejects an empty or negative part. A part beyond the end of the file is found later (-14). */
function registration({ client_file_id: clientFileId, start, end }: AskedFile) {
  const at = 'body/file_to_register'
  if (start !== undefined && start < 0) throw new RequestInvalid(`${at}/start must not be negative`)
  if (end !== undefined && end <= (start ?? 0)) throw new RequestInvalid(`${at}/end must be greater than start`)
  return { clientFileId, startSec: start, endSec: end }
}
