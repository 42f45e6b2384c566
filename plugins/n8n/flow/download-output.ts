import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow'
import { safeAddress } from '../../../src/client/address.js'
import { statusFault } from '../../../src/client/exchange-json.js'
import { faultError, refusesLink } from '../../../src/client/fault-error.js'
import { HttpFault } from '../../../src/client/http-fault.js'
import { networkFault } from '../../../src/client/network-fault.js'
import { pauseMs } from '../../../src/client/retry.js'
import { outputLink } from '../../../src/client/transfer/output-link.js'
import { HTML_TYPE } from '../../../src/client/transfer/require-stored.js'
import { sleep } from '../../../src/core/time.js'
import type { OpenedDownload } from './host-transport.js'
import type { Session } from './session.js'

const MAX_REDIRECTS = 5

/**
 * Streams the output of a succeeded file into the binary data of n8n. After a break it begins again, with a new link.
 *
 * @throws {TransientError} if storage stays unreachable, or refuses new links too
 */
export async function downloadOutput(
  fileId: string,
  fileName: string,
  { host, session, signal }: { host: IExecuteFunctions; session: Session; signal: AbortSignal },
): Promise<IBinaryData> {
  const { helpers } = host
  const { api, options } = session
  for (let attempt = 0; ; attempt++) {
    const link = safeAddress((await outputLink(api, options.retry, fileId, { signal })).url, 'The download link')
    try {
      const answer = await opened(session, link, signal)
      const data = await helpers.prepareBinaryData(answer.bytes, fileName).catch((thrown: unknown) => {
        throw networkFault('download', thrown)
      })
      const sizeBytes = data.id ? (await helpers.getBinaryMetadata(data.id)).fileSize : bytesOfBase64(data.data)
      requireWhole(answer, sizeBytes)
      return data
    } catch (thrown) {
      if (!(thrown instanceof HttpFault)) throw thrown
      const isRefused = refusesLink(thrown)
      if (!(isRefused || thrown.transient) || attempt >= options.retry.limit) throw faultError(thrown, link.host)
      await sleep(pauseMs(thrown, attempt, options.retry), signal)
    }
  }
}

/** Follows redirects, and refuses every response that is not a file. */
async function opened({ transport }: Session, link: URL, signal: AbortSignal): Promise<OpenedDownload> {
  let url = link
  for (let redirects = 0; ; redirects++) {
    const answer = await transport.open({ operation: 'download', url: url.href, signal })
    const { status, headers, bytes } = answer
    if (status === 200 && !HTML_TYPE.test(headers['content-type'] ?? '')) return answer
    bytes.destroy()
    if (status === 200) throw badDownload('a web page instead of the file')
    const isRedirect = status >= 300 && status < 400 && headers.location !== undefined
    if (!isRedirect) throw statusFault('download', { ...answer, text: '' })
    if (redirects === MAX_REDIRECTS) throw badDownload('too many redirects')
    url = safeAddress(new URL(headers.location as string, url).href, 'A redirect of the download')
  }
}

function requireWhole({ headers }: OpenedDownload, sizeBytes: number): void {
  const length = headers['content-length']
  if (sizeBytes === 0) throw badDownload('an empty file')
  if (length === undefined || headers['content-encoding'] || Number(length) === sizeBytes) return
  throw badDownload(`${sizeBytes} of ${length} bytes arrived`)
}

const badDownload = (detail: string) => new HttpFault({ operation: 'download', reason: 'bad-answer', detail })

const bytesOfBase64 = (text: string) => Buffer.byteLength(text, 'base64')
