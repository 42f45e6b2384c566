import { UsageError } from '../core/errors.js'
import { type Logger, silentLogger } from '../core/logger.js'
import { redactUrl } from '../core/redact.js'
import { retryOptionsSchema, timeoutOptionsSchema } from './client-options.js'
import { type Downloaded, downloadFile } from './download-file.js'
import { createTransport } from './transport.js'
import type { TransferOptions } from './upload-file.js'

/**
 * Streams a file from a public address to `targetPath`: resumed after a break, its length checked, whole or not there.
 *
 * @param address https, or http to this machine
 * @throws {UsageError} `ERR_INPUT_MISSING` where nothing is there or it is not public; else as `downloadFile`
 */
export async function downloadAddress(
  address: string,
  targetPath: string,
  options: TransferOptions & { readonly logger?: Logger } = {},
): Promise<Downloaded> {
  const { logger = silentLogger, ...transfer } = options
  const context = {
    transport: createTransport(timeoutOptionsSchema.parse({})),
    retry: retryOptionsSchema.parse({}),
    logger,
  }
  let asked = false
  const link = {
    getOutputFileUrl: async () => {
      // Asked a second time: storage refused the address, and there is nobody to give another.
      if (asked) throw cannotBeDownloaded(address)
      asked = true
      return { url: address, expiry: Number.MAX_SAFE_INTEGER / 1000 }
    },
  }
  return downloadFile(context, link, '', targetPath, transfer)
}

function cannotBeDownloaded(address: string): UsageError {
  return new UsageError('ERR_INPUT_MISSING', `${redactUrl(address)} cannot be downloaded.`, {
    input: redactUrl(address),
    remedies: ['Check that the link opens without signing in.'],
  })
}
