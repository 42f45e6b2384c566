import { fileSha256 } from '../file-identity.js'

/**
 * Next step after an unusable download.
 * - `download-again`: the transfer may have damaged it
 * - `request-again`: the service returned the same bytes twice, so its output itself is unusable
 * - `give-up-for-now`: every download differs, so the connection is to blame and nothing may be paid again
 */
export type AfterUnusable = 'download-again' | 'request-again' | 'give-up-for-now'

const MAX_DOWNLOADS = 3

/** The unusable downloads of one file id in one run. */
export class UnusableDownloads {
  readonly #sha256s: string[] = []

  /** @param path the downloaded file; only read */
  async add(path: string, signal?: AbortSignal): Promise<AfterUnusable> {
    const sha256 = await fileSha256(path, signal)
    if (this.#sha256s.includes(sha256)) return 'request-again'
    this.#sha256s.push(sha256)
    return this.#sha256s.length < MAX_DOWNLOADS ? 'download-again' : 'give-up-for-now'
  }
}
