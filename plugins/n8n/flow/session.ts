import type { IExecuteFunctions } from 'n8n-workflow'
import { safeAddress } from '../../../src/client/address.js'
import { type ResolvedClientOptions, resolveClientOptions } from '../../../src/client/client-options.js'
import { faultError } from '../../../src/client/fault-error.js'
import { HttpFault } from '../../../src/client/http-fault.js'
import { withRetries } from '../../../src/client/retry.js'
import { ServiceApi } from '../../../src/client/service-api.js'
import { StatusWatcher } from '../../../src/client/status-watcher.js'
import { TokenProvider } from '../../../src/client/token-provider.js'
import { registerAndUpload } from '../../../src/client/transfer/register-and-upload.js'
import { UploadTries } from '../../../src/client/transfer/upload-tries.js'
import { silentLogger } from '../../../src/core/logger.js'
import { type HostTransport, hostTransport } from './host-transport.js'
import { type ItemFile, md5Of } from './item-file.js'

/** The client of voxmux over the HTTP of n8n. The items of one execution share a token and a poller. */
export interface Session {
  readonly options: ResolvedClientOptions
  readonly model: string
  readonly transport: HostTransport
  readonly api: ServiceApi
  readonly watcher: StatusWatcher
}

export async function openSession(host: IExecuteFunctions): Promise<Session> {
  const { model, ...values } = await host.getCredentials('voxmuxApi')
  const named = (name: string) => String(values[name] ?? '').trim()
  const options = resolveClientOptions({
    ...{ baseUrl: named('baseUrl'), authUrl: named('authUrl'), tenantId: named('tenantId') },
    ...{ clientId: named('clientId'), clientSecret: named('clientSecret'), scope: named('scope') },
    blockTypeHeader: named('blockTypeHeader') || undefined,
  })
  const transport = hostTransport(host.helpers)
  const tokens = new TokenProvider(options, transport, silentLogger)
  const api = new ServiceApi(options, transport, tokens, silentLogger)
  const watcher = new StatusWatcher((ids, signal) => api.getFilesStatus(ids, { signal }), options.polling, silentLogger)
  return { options, model: String(model), transport, api, watcher }
}

/**
 * Registers the file of an item and streams it to its link.
 *
 * @returns its file id
 * @throws every error of registerFile; `ERR_UPLOAD_LINK_EXPIRED` after three links
 */
export async function uploadItem(
  { options, transport, api }: Session,
  file: ItemFile,
  clientFileId: string,
  signal: AbortSignal,
): Promise<string> {
  const { retry, blockTypeHeader } = options
  const context = { retry, transport, signal, logger: silentLogger }
  const { file_id } = await registerAndUpload(
    api,
    async (registered) => {
      const link = safeAddress(registered.file_upload_link, 'The upload link')
      const headers = {
        'content-type': 'application/octet-stream',
        'content-length': String(file.sizeBytes),
        [blockTypeHeader]: 'BlockBlob',
      }
      const tries = new UploadTries(registered, file.name)
      const attempt = async () => {
        try {
          const body = await file.open()
          const answer = await transport.put({ operation: 'upload', url: link.href, headers, body, signal })
          await tries.requireStored(answer, () => md5Of(file))
        } catch (thrown) {
          tries.failed(thrown)
          throw thrown
        }
      }
      await withRetries(attempt, context).catch((thrown: unknown) => {
        throw thrown instanceof HttpFault ? faultError(thrown, link.host) : thrown
      })
    },
    { clientFileId },
    { signal },
  )
  return file_id
}
