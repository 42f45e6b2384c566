import { fileSha256 } from '../../core/file-identity.js'

/** SystemError and TimeOut, which the interface calls transient. */
const RETRIED_CODES: ReadonlySet<number> = new Set([-1, -12])
const MAX_DOWNLOADS = 3

/**
 * Next step after an unusable download.
 * - `download-again`: the transfer may have damaged it
 * - `request-again`: the service returned the same bytes twice, so its output itself is unusable
 * - `give-up-for-now`: every download differs, so the connection is to blame and nothing may be paid again
 */
type AfterUnusable = 'download-again' | 'request-again' | 'give-up-for-now'

/** Decides what is tried again for one voice in one run. Earlier runs do not count, because they are why it runs again. */
export class VoiceRetries {
  #failures = 0
  readonly #unusableSha256s = new Set<string>()

  /** True if a voice whose file failed is sent a second time: once, after -1 or -12. */
  afterFailure(errorCode: number): boolean {
    this.#failures += 1
    return this.#failures === 1 && RETRIED_CODES.has(errorCode)
  }

  /** @param path the downloaded file; only read */
  async afterUnusable(path: string, signal?: AbortSignal): Promise<AfterUnusable> {
    const sha256 = await fileSha256(path, signal)
    if (this.#unusableSha256s.has(sha256)) return 'request-again'
    this.#unusableSha256s.add(sha256)
    return this.#unusableSha256s.size < MAX_DOWNLOADS ? 'download-again' : 'give-up-for-now'
  }

  /** Starts counting downloads again, for another file id. */
  forgetDownloads(): void {
    this.#unusableSha256s.clear()
  }
}
