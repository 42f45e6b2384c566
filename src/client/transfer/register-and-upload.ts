import type { RegisteredFile } from '../../contract/index.js'
import { TransientError } from '../../core/errors.js'
import type { FileToRegister, ServiceApi } from '../service-api.js'
import type { TransferOptions } from './upload-file.js'

export interface RegisterAndUploadOptions extends TransferOptions {
  /** Called with each new file id, and awaited before the upload, so that the caller can store the id. */
  readonly onRegistered?: ((registered: RegisteredFile) => void | Promise<void>) | undefined
}

/** A link that is refused this often is refused for another reason than its age. */
const MAX_REGISTRATIONS = 3

/**
 * Registers a file and uploads it. Registers it again if the link expires first.
 *
 * @returns the registration whose link accepted the bytes
 * @throws every error of registerFile and upload; `ERR_UPLOAD_LINK_EXPIRED` after three links
 */
export async function registerAndUpload(
  api: Pick<ServiceApi, 'registerFile'>,
  upload: (registered: RegisteredFile, options: TransferOptions) => Promise<void>,
  file: FileToRegister,
  options: RegisterAndUploadOptions,
): Promise<RegisteredFile> {
  for (let registration = 1; ; registration++) {
    const registered = await api.registerFile(file, { signal: options.signal })
    await options.onRegistered?.(registered)
    try {
      await upload(registered, options)
      return registered
    } catch (thrown) {
      const expired = thrown instanceof TransientError && thrown.code === 'ERR_UPLOAD_LINK_EXPIRED'
      if (!expired || registration === MAX_REGISTRATIONS) throw thrown
    }
  }
}
