import { TransientError, UsageError } from '../../core/errors.js'
import { type Logger, silentLogger } from '../../core/logger.js'
import { redactUrl } from '../../core/redact.js'
import { retryOptionsSchema, timeoutOptionsSchema } from '../client-options.js'
import { type HttpFault, httpFaultOf } from '../http-fault.js'
import { createTransport } from '../transport.js'
import { type Downloaded, type DownloadOptions, downloadFile } from './download-file.js'

/**
 * Streams a file from a public address to `targetPath`. Resumes after a break and checks the length. The file appears
 * complete or not at all.
 *
 * @param address https, or http to this machine
 * @throws {UsageError} `ERR_INPUT_MISSING` if the file does not exist or is not public; else as `downloadFile`
 */
export async function downloadAddress(
  address: string,
  targetPath: string,
  options: DownloadOptions & { readonly logger?: Logger } = {},
): Promise<Downloaded> {
  const { logger = silentLogger, ...transfer } = options
  const context = {
    transport: createTransport(timeoutOptionsSchema.parse({})),
    retry: retryOptionsSchema.parse({}),
    logger,
  }
  let asked = false
  let refusal: HttpFault | undefined
  const api = {
    getOutputFileUrl: async () => {
      // The second request for a link means that storage refused the address. There is no other.
      if (asked) throw cannotBeDownloaded(address, refusal)
      asked = true
      return { url: address, expiry: Number.MAX_SAFE_INTEGER / 1000 }
    },
  }
  const onRefused = (fault: HttpFault) => {
    refusal = fault
  }
  try {
    return await downloadFile({ api, fileId: '' }, targetPath, context, { ...transfer, mayBeText: true, onRefused })
  } catch (thrown) {
    throw ofSource(address, thrown)
  }
}

/** The error of the service, in words for the address that a person typed. */
function ofSource(address: string, thrown: unknown): unknown {
  const fault = httpFaultOf(thrown)
  if (fault && thrown instanceof TransientError) return broken(address, thrown)
  const isRedirect = fault?.reason === 'redirect' || (fault?.reason === 'insecure' && /redirect/.test(fault.detail))
  return isRedirect && thrown instanceof UsageError ? led(address, thrown) : thrown
}

function led(address: string, { code, message, cause }: UsageError): UsageError {
  const remedies = ['Open the address in a browser, and name the https address or the file to which it leads.']
  return new UsageError(code, message, { cause, input: redactUrl(address), remedies })
}

/** The same fault of a source, of which nothing is kept. */
function broken(address: string, { code, message, cause }: TransientError): TransientError {
  return new TransientError(code, message, {
    cause,
    input: redactUrl(address),
    remedies: [
      'Check the address and the network, then run the same command again. It downloads the file from its beginning.',
    ],
  })
}

function cannotBeDownloaded(address: string, refusal: HttpFault | undefined): UsageError {
  const input = redactUrl(address)
  const isGone = refusal?.status === 404 || refusal?.status === 410
  const why =
    refusal?.reason === 'status' ? `The server responded with status ${refusal.status}` : `It sent ${refusal?.detail}`
  return new UsageError('ERR_INPUT_MISSING', `${input} cannot be downloaded. ${why}.`, {
    input,
    remedies: [
      isGone ? 'Check the address: no file is there.' : 'Check that the link opens a file without signing in.',
    ],
  })
}
