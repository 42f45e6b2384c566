import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { OPERATIONS, type OperationName, type WebhookMessage } from '../../../src/contract/index.js'
import type { Fault } from './fault.js'
import { type Regenerate, RemoteFile, type ScriptedStatus } from './remote-file.js'
import { errorReply, type Reply } from './reply.js'
import type { FakeStorage } from './storage.js'

export const CREDENTIALS = {
  tenantId: 'tenant-1',
  clientId: 'client-1',
  clientSecret: 'the-client-secret-of-the-tests',
  scope: 'api://voxmux-test/.default',
} as const

/** What can be changed about the service at any time. */
export interface ServiceBehaviour {
  regenerate: Regenerate
  /** Statuses given one after the other once a file is started; the last one stays. */
  states: readonly ScriptedStatus[] | ((file: RemoteFile) => readonly ScriptedStatus[])
  /** How a second start of one id is answered. */
  repeatedStart: 'accepted' | 'conflict'
  /** Id of the next file. */
  newId: () => string
  tokenLifetimeSec: number
  linkLifetimeSec: number
  /** Where started files with `options.webhook` are told of; the secret goes into the header. */
  webhook: { url: string; secret: string } | undefined
}

/** The six operations and the token endpoint, without any fault. */
export class FakeService {
  readonly files = new Map<string, RemoteFile>()
  readonly #tokens = new Set<string>()
  readonly #dir: string
  readonly #storage: FakeStorage
  readonly #behaviour: ServiceBehaviour

  constructor(dir: string, storage: FakeStorage, behaviour: ServiceBehaviour) {
    this.#dir = dir
    this.#storage = storage
    this.#behaviour = behaviour
  }

  /** Every token given out so far is answered with 401 from now on. */
  revokeTokens(): void {
    this.#tokens.clear()
  }

  token(form: URLSearchParams): Reply {
    const { clientId, clientSecret, scope } = CREDENTIALS
    const given = [form.get('client_id'), form.get('client_secret'), form.get('scope'), form.get('grant_type')]
    if (given.join() !== [clientId, clientSecret, scope, 'client_credentials'].join()) {
      return { status: 401, body: { error: 'invalid_client', error_description: `Invalid secret ${given[1]}.` } }
    }
    const token = `token-${randomUUID()}`
    this.#tokens.add(token)
    const lifetime = this.#behaviour.tokenLifetimeSec
    return {
      status: 200,
      body: { access_token: token, token_type: 'Bearer', expires_in: lifetime, ext_expires_in: lifetime },
    }
  }

  call(operation: OperationName, request: IncomingMessage, body: unknown, fault: Fault | undefined): Reply {
    const { authenticated, request: schema } = OPERATIONS[operation]
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    if (authenticated && !this.#tokens.has(token ?? '')) return errorReply(401, 'Authentication failed.')
    if (schema && request.headers['content-type'] !== 'application/json') return errorReply(400, 'not JSON')
    const parsed = schema?.safeParse(body)
    if (parsed && !parsed.success) return errorReply(400, parsed.error.issues[0]?.message)
    switch (operation) {
      case 'ping':
        return { status: 200, body: { status: 'ok' } }
      case 'registerFile':
      case 'registerFileFromUrl':
        return this.#register(operation, body as Registration, fault)
      case 'startProcess':
        return this.#start(body as { file_id: string; options: RemoteFile['options'] })
      case 'getFilesStatus':
        return { status: 200, body: (body as { fileIds: string[] }).fileIds.map((id) => this.#status(id)) }
      case 'getOutputFileUrl': {
        const file = this.files.get((body as { fileId: string }).fileId)
        if (!file?.outputPath) return errorReply(404, 'File not found.')
        return { status: 200, body: this.#storage.link('download', file, this.#behaviour.linkLifetimeSec, fault) }
      }
      default:
        return operation satisfies never
    }
  }

  #register(operation: 'registerFile' | 'registerFileFromUrl', body: Registration, fault: Fault | undefined): Reply {
    const { client_file_id, start, end, source_url } = body.file_to_register
    const file = new RemoteFile(this.#behaviour.newId(), client_file_id, start, end, source_url, this.#dir)
    this.files.set(file.id, file)
    const registered = {
      file_id: file.id,
      client_file_id,
      file_name: client_file_id.replace(/\.[^.]*$/, ''),
      success: true,
      error_code: 0,
    }
    if (operation === 'registerFileFromUrl') return { status: 200, body: { registered_file: registered } }
    const link = this.#storage.link('upload', file, this.#behaviour.linkLifetimeSec, fault)
    return {
      status: 200,
      body: { registered_file: { ...registered, file_upload_link: link.url, file_upload_expiry: link.expiry } },
    }
  }

  #start({ file_id, options }: { file_id: string; options: RemoteFile['options'] }): Reply {
    const file = this.files.get(file_id)
    if (!file) return errorReply(404, 'File not found.')
    const conflict = (message: string) => ({ status: 200, body: { file_id, error: { code: 409, message } } })
    if (!file.uploaded && !file.sourceUrl) return conflict('The file was not uploaded.')
    if (file.charges > 0 && this.#behaviour.repeatedStart === 'conflict') return conflict('Started already.')
    if (file.charges === 0) {
      file.charges++
      file.options = options
      void file.process(this.#behaviour.regenerate).then(() => this.#notify(file))
    }
    return { status: 200, body: { file_id, error: null } }
  }

  #status(id: string): object {
    const { states } = this.#behaviour
    const file = this.files.get(id)
    if (!file) return { id, status: 'NotFound', errorCode: -11, progress: 0 }
    return file.nextStatus(typeof states === 'function' ? states(file) : states)
  }

  async #notify(file: RemoteFile): Promise<void> {
    const { webhook } = this.#behaviour
    if (!webhook || !file.options.webhook) return
    const message: WebhookMessage = file.failed
      ? { fileId: file.id, status: 'Failed-Not-Deleted', progress: 0, errorCode: file.failed.errorCode }
      : { fileId: file.id, status: 'Processed', progress: 100, errorCode: 0 }
    const secret = file.options.webhook_secret ?? webhook.secret
    await fetch(webhook.url, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ userId: 'user-1', type: 'status-updated', message }),
    }).catch(() => {})
  }
}

interface Registration {
  file_to_register: { client_file_id: string; start?: number; end?: number; source_url?: string }
}
