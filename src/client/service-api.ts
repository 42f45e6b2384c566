import type { z } from 'zod'
import {
  type ClientProcessOptions,
  clientOutputFileUrlSchema,
  clientProcessOptionsSchema,
  LIMITS,
  OPERATIONS,
  type OperationName,
  type OutputFileUrl,
  type PingAnswer,
  pingAnswerSchema,
  type RegisteredFile,
  type RegisteredFileFromUrl,
  registerFileAnswerSchema,
  registerFileFromUrlAnswerSchema,
  SERVICE_MODEL,
  type StartProcessAnswer,
  startProcessAnswerSchema,
} from '../contract/index.js'
import { lateAbort } from '../core/abort.js'
import { UsageError } from '../core/errors.js'
import type { Logger } from '../core/logger.js'
import { joinAddress, safeAddress } from './address.js'
import type { ResolvedClientOptions } from './client-options.js'
import { exchangeJson } from './exchange-json.js'
import { faultError } from './fault-error.js'
import { type FileStatus, statusesOf, statusListSchema } from './file-status.js'
import { HttpFault } from './http-fault.js'
import { type RetryContext, withRetries } from './retry.js'
import type { TokenProvider } from './token-provider.js'
import type { TextTransport } from './transport.js'

/** Time for which an aborted start that was sent still waits for its response, which says what was paid. */
const START_GRACE_MS = 5000

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Called before each request of the call, a repeated one too. If it throws, the request is not sent. */
  readonly beforeSend?: ((operation: OperationName) => Promise<void>) | undefined
}

/** A file to register: your own id and, if only a part is processed, its range in seconds from the start. */
export interface FileToRegister {
  readonly clientFileId: string
  readonly start?: number | undefined
  readonly end?: number | undefined
}

/** Options of startProcess. `model` defaults to the interface's placeholder. */
export type StartOptions = Omit<ClientProcessOptions, 'model'> & { readonly model?: string | undefined }

interface Call<T> {
  readonly operation: OperationName
  readonly body?: unknown
  readonly answer: z.ZodType<T>
  readonly mayRepeat?: RetryContext['mayRepeat']
  /** How long an abort waits for the response to a request that was sent, in milliseconds. Default: 0. */
  readonly answerGraceMs?: number
  /** Returns what is wrong with a response of the right shape. */
  readonly objection?: (answer: T) => string | undefined
}

/** The six operations of the interface, each with retries, one token renewal on a 401, and a validated response. */
export class ServiceApi {
  readonly address: URL
  readonly #transport: TextTransport
  readonly #tokens: TokenProvider
  readonly #options: ResolvedClientOptions
  readonly #logger: Logger

  constructor(options: ResolvedClientOptions, transport: TextTransport, tokens: TokenProvider, logger: Logger) {
    this.address = safeAddress(options.baseUrl, 'The address of the service')
    this.#transport = transport
    this.#tokens = tokens
    this.#options = options
    this.#logger = logger
  }

  ping(options?: CallOptions): Promise<PingAnswer> {
    return this.#call({ operation: 'ping', answer: pingAnswerSchema }, options)
  }

  registerFile(file: FileToRegister, options?: CallOptions): Promise<RegisteredFile> {
    return this.#register('registerFile', registration(file), registerFileAnswerSchema, options)
  }

  registerFileFromUrl(
    { sourceUrl, ...file }: FileToRegister & { readonly sourceUrl: string },
    options?: CallOptions,
  ): Promise<RegisteredFileFromUrl> {
    const body = { ...registration(file), source_url: sourceUrl }
    return this.#register('registerFileFromUrl', body, registerFileFromUrlAnswerSchema, options)
  }

  /**
   * Starts the processing. Retries only requests that were certainly not accepted (no connection, 425, 429 as a status
   * or as the `error` in a 200). After any other fault, check the status first, as `startOnce` does.
   */
  startProcess(fileId: string, startOptions: StartOptions = {}, options?: CallOptions): Promise<StartProcessAnswer> {
    const parsed = clientProcessOptionsSchema.safeParse({ ...startOptions, model: startOptions.model ?? SERVICE_MODEL })
    if (!parsed.success) {
      const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
      throw new UsageError('ERR_BAD_OPTION', `The processing options are invalid (${faults.join('; ')}).`)
    }
    return this.#call(
      {
        operation: 'startProcess',
        body: { file_id: fileId, options: parsed.data },
        answer: startProcessAnswerSchema,
        mayRepeat: (fault) => !fault.ambiguous,
        answerGraceMs: START_GRACE_MS,
        objection: (answer) => {
          if (answer.error) throw startFault(answer.error)
          return answer.file_id === fileId ? undefined : 'it names another file'
        },
      },
      options,
    )
  }

  /**
   * Requests the status of files, up to 100 ids per request.
   *
   * @returns one entry per id, in the given order; undefined if the response has no readable entry for the file
   */
  async getFilesStatus(fileIds: readonly string[], options?: CallOptions): Promise<(FileStatus | undefined)[]> {
    const entries: (FileStatus | undefined)[] = []
    for (let from = 0; from < fileIds.length; from += LIMITS.fileIdsMax) {
      const ids = fileIds.slice(from, from + LIMITS.fileIdsMax)
      const answer = await this.#call(
        {
          operation: 'getFilesStatus',
          body: { fileIds: ids },
          answer: statusListSchema,
          objection: (list) =>
            statusesOf(list, ids).some(Boolean) ? undefined : 'it contains none of the requested files',
        },
        options,
      )
      entries.push(...statusesOf(answer, ids))
    }
    return entries
  }

  getOutputFileUrl(fileId: string, options?: CallOptions): Promise<OutputFileUrl> {
    return this.#call({ operation: 'getOutputFileUrl', body: { fileId }, answer: clientOutputFileUrlSchema }, options)
  }

  async #register<T extends RegisteredFileFromUrl>(
    operation: OperationName,
    file: ReturnType<typeof registration>,
    answer: z.ZodType<{ registered_file: T }>,
    options: CallOptions | undefined,
  ): Promise<T> {
    const objection = ({ registered_file }: { registered_file: T }) =>
      registrationFault(operation, registered_file, file.client_file_id)
    const call = { operation, body: { file_to_register: file }, answer, objection }
    return (await this.#call(call, options)).registered_file
  }

  async #call<T>(call: Call<T>, { signal, beforeSend }: CallOptions = {}): Promise<T> {
    const { method, path, authenticated } = OPERATIONS[call.operation]
    const send = async (token?: string) => {
      await beforeSend?.(call.operation)
      const late = lateAbort(signal, call.answerGraceMs ?? 0)
      const answer = await exchangeJson(this.#transport, {
        operation: call.operation,
        method,
        url: joinAddress(this.address, path),
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        answer: call.answer,
        secrets: this.#tokens.secrets,
        signal: late.signal,
        json: call.body,
      }).finally(late.release)
      const objection = call.objection?.(answer)
      if (objection) throw new HttpFault({ operation: call.operation, reason: 'bad-answer', detail: objection })
      return answer
    }
    let renewed = false
    const authorized = async () => {
      const token = await this.#tokens.get(signal)
      try {
        return await send(token)
      } catch (thrown) {
        // Renew once per call: a second 401 means that the credentials are refused, not the token.
        if (renewed || !(thrown instanceof HttpFault) || thrown.status !== 401 || thrown.reason !== 'status')
          throw thrown
        renewed = true
        this.#tokens.reject(token)
        return send(await this.#tokens.get(signal))
      }
    }
    try {
      return await withRetries(authenticated ? authorized : () => send(), {
        retry: this.#options.retry,
        logger: this.#logger,
        transport: this.#transport,
        signal,
        mayRepeat: call.mayRepeat,
      })
    } catch (thrown) {
      throw thrown instanceof HttpFault ? faultError(thrown, this.address.host) : thrown
    }
  }
}

function registration({ clientFileId, start, end }: FileToRegister) {
  return { client_file_id: clientFileId, start, end }
}

/** A database ends a text at a NUL, and replaces half a pair of UTF-16: a start would then name another file. */
const STORABLE = /^[^\p{Cc}\p{Cs}]+$/u

/** A failed registration (`error_code` 500) is an internal error of the service, even inside a 200. */
function registrationFault(
  operation: OperationName,
  registered: RegisteredFileFromUrl,
  clientFileId: string,
): string | undefined {
  if (registered.error_code === 500 || registered.success === false) {
    throw new HttpFault({ operation, reason: 'status', status: 500, detail: 'it could not register the file' })
  }
  if (!STORABLE.test(registered.file_id)) return 'the file id is empty or has characters that no text has'
  return registered.client_file_id === clientFileId ? undefined : 'it names another file'
}

function startFault(error: { code: number; message: string }): HttpFault {
  return new HttpFault({ operation: 'startProcess', reason: 'start-error', status: error.code, detail: error.message })
}
