import { fileErrorInfo } from '../contract/index.js'
import { AccessError, JobFailedError, TransientError, UsageError, type VoxmuxError } from '../core/errors.js'
import type { HttpFault } from './http-fault.js'
import { insecureRemedy } from './insecure-connection.js'

/** Statuses with which storage refuses a signed link. Some storages answer an expired one with 400. */
const DOWNLOAD_REFUSED: ReadonlySet<number> = new Set([400, 401, 403, 404, 410])

/** True if storage refuses the link of a download. Another one may help. */
export function refusesLink({ operation, reason, status = 0 }: HttpFault): boolean {
  return operation === 'download' && reason === 'status' && DOWNLOAD_REFUSED.has(status)
}

/**
 * Converts a fault to an error for users.
 *
 * @param host destination of the request, named in the message
 * @returns `ERR_SERVICE_UNREACHABLE`, `ERR_SERVICE_BUSY`, `ERR_BAD_ANSWER`, `ERR_DOWNLOAD_LINK_REFUSED` (transient),
 * `ERR_AUTH_FAILED`, `ERR_ACCESS_DENIED` (access), `ERR_NOT_FOUND`, `ERR_REQUEST_REFUSED`, `ERR_START_CONFLICT`,
 * `ERR_START_REFUSED` (job failed), `ERR_INSECURE_ADDRESS`, `ERR_WRONG_ADDRESS` (usage); its `cause` is the fault
 */
export function faultError(fault: HttpFault, host: string): VoxmuxError {
  const words = fault.detail ? ` (${fault.detail})` : ''
  switch (fault.reason) {
    case 'unsent':
    case 'network':
    case 'timeout':
      return new TransientError(
        'ERR_SERVICE_UNREACHABLE',
        `${host} could not be reached for ${purpose(fault)}${words}.`,
        {
          cause: fault,
          remedies: [
            `Check the address and the network, then run the same command again. ${kept(fault)}`,
            ...proxyRemedies(fault),
          ],
        },
      )
    case 'insecure':
      return new UsageError('ERR_INSECURE_ADDRESS', `The connection to ${host} is not secure${words}.`, {
        cause: fault,
        remedies: [insecureRemedy(fault.detail)],
      })
    case 'redirect':
      return new UsageError('ERR_WRONG_ADDRESS', `${host} redirects ${purpose(fault)} to ${fault.detail}.`, {
        cause: fault,
        remedies: [
          'Check that no proxy stands in the way, or ask the operator of the service for links to an https address.',
        ],
      })
    case 'bad-answer':
      return new TransientError('ERR_BAD_ANSWER', `${host} sent an invalid response to ${purpose(fault)}${words}.`, {
        cause: fault,
        remedies: ['Check that the address belongs to the service itself, then run again.'],
      })
    case 'status':
    case 'start-error':
      return fault.operation === 'token' ? tokenError(fault, host) : statusError(fault, host)
    default:
      return fault.reason satisfies never
  }
}

/** Purposes of requests, for people who do not know the operations of the interface. */
const PURPOSES: Readonly<Record<string, string>> = {
  ping: 'a test of the connection',
  token: 'an access token',
  registerFile: 'the registration of a file',
  registerFileFromUrl: 'the registration of an address',
  startProcess: 'the start of a file',
  getFilesStatus: 'the status of files',
  getOutputFileUrl: 'a download link',
  upload: 'the upload',
  download: 'the download',
}

function purpose({ operation }: HttpFault): string {
  return PURPOSES[operation] ?? operation
}

/** Node uses the proxy of the environment only if it is told to, and new enough. */
function proxyRemedies({ unusedProxy }: HttpFault): string[] {
  if (unusedProxy === undefined) return []
  return [
    `If the service is behind the proxy of ${unusedProxy}, set NODE_USE_ENV_PROXY=1, and run Node 22.21, 24.5 or newer.`,
  ]
}

/** Operations on a file that is started, and so paid for. */
const AFTER_START: ReadonlySet<string> = new Set(['getFilesStatus', 'getOutputFileUrl', 'download'])

/** Names the work that the next run need not do again. */
function kept({ operation }: HttpFault): string {
  return AFTER_START.has(operation) ? 'Voices that are paid for are kept.' : 'Finished uploads are kept.'
}

/**
 * The identity provider refuses credentials with 400 or 401 (RFC 6749). A 404 means another path, and so another tenant,
 * or a proxy whose provider restarts. It says nothing about the account, so it must not pause a farm as a refusal would.
 */
function tokenError(fault: HttpFault, host: string): VoxmuxError {
  if (fault.transient || fault.status === 403 || redirects(fault)) return statusError(fault, host)
  if (fault.status === 404) {
    return new UsageError('ERR_WRONG_ADDRESS', `${host} issues no tokens at this address (404).`, {
      cause: fault,
      remedies: ['Compare tenant id and address of the identity provider (VOXMUX_AUTH_URL) with the developer portal.'],
    })
  }
  return authFailed(fault, host)
}

function statusError(fault: HttpFault, host: string): VoxmuxError {
  if (fault.transient || refusesLink(fault)) return temporary(fault, host)
  if (redirects(fault)) return redirected(fault, host)
  return (ERRORS_OF_STATUS[fault.status ?? 0] ?? refused)(fault, host)
}

const ERRORS_OF_STATUS: Readonly<Record<number, (fault: HttpFault, host: string) => VoxmuxError>> = {
  ...{ 401: authFailed, 402: unpaid, 403: accessDenied, 404: notFound, 409: conflict },
  413: (fault, host) => withFileError(fault, 'ERR_REQUEST_REFUSED', host, -13),
}

function temporary(fault: HttpFault, host: string): TransientError {
  const { status = 0 } = fault
  const words = detailWords(fault)
  if (fault.transient && status === 404) {
    return new TransientError('ERR_BAD_ANSWER', `${host} responded to ${purpose(fault)} with 404${words}.`, {
      cause: fault,
      remedies: [`Check the address of the service, then run the same command again. ${kept(fault)}`],
    })
  }
  if (refusesLink(fault)) {
    return new TransientError('ERR_DOWNLOAD_LINK_REFUSED', `${host} refused every new download link (${status}).`, {
      cause: fault,
      remedies: ['Run the same command again in a few minutes. Voices that are paid for are kept.'],
    })
  }
  const how = status === 429 ? 'asks for fewer requests' : `is busy (${status})`
  return new TransientError('ERR_SERVICE_BUSY', `${host} ${how} at ${purpose(fault)}${words}.`, {
    cause: fault,
    remedies: [`Run the same command again in a few minutes. ${kept(fault)}`],
  })
}

function redirected(fault: HttpFault, host: string): UsageError {
  const message = `${host} responded to ${purpose(fault)} with a redirect (${fault.status}).`
  return new UsageError('ERR_WRONG_ADDRESS', message, {
    cause: fault,
    remedies: [
      fault.operation === 'upload'
        ? 'Check that no proxy stands in the way, or ask the operator of the service for upload links without a redirect.'
        : 'Configure the address to which it redirects.',
    ],
  })
}

/** A 402 about a file that is already paid for does not mean missing credits. */
function unpaid(fault: HttpFault, host: string): JobFailedError {
  if (isStart(fault)) return withFileError(fault, 'ERR_START_REFUSED', host, -10)
  return isRegistration(fault) ? withFileError(fault, 'ERR_REQUEST_REFUSED', host, -10) : refused(fault, host)
}

function accessDenied(fault: HttpFault, host: string): AccessError {
  const message = `${host} denies access to ${purpose(fault)}${detailWords(fault)}.`
  return new AccessError('ERR_ACCESS_DENIED', message, {
    cause: fault,
    remedies: ['Check in the developer portal that this API key and its scope may use the service.'],
  })
}

/** A registration names no file yet, so it is the operation that does not exist at this address. */
function notFound(fault: HttpFault, host: string): VoxmuxError {
  if (isRegistration(fault)) return wrongPath(fault, host)
  return withFileError(fault, 'ERR_NOT_FOUND', host, -11, fault.operation === 'ping' ? WRONG_PATH : undefined)
}

function conflict(fault: HttpFault, host: string): JobFailedError {
  if (fault.operation === 'upload') return refused(fault, host)
  const code = isStart(fault) ? 'ERR_START_CONFLICT' : 'ERR_REQUEST_REFUSED'
  return new JobFailedError(code, `${host} reported a conflict at ${purpose(fault)}${detailWords(fault)}.`, {
    cause: fault,
    remedies: ['Run the same command again. The file may have been started already, or was not uploaded.'],
  })
}

const isStart = ({ operation }: HttpFault) => operation === 'startProcess'
const isRegistration = ({ operation }: HttpFault) => operation.startsWith('register')

const WRONG_PATH = ['Compare the address of the service (VOXMUX_BASE_URL) with the developer portal, its path too.']

function wrongPath(fault: HttpFault, host: string): UsageError {
  return new UsageError('ERR_WRONG_ADDRESS', `${host} does not offer ${purpose(fault)} at this address (404).`, {
    cause: fault,
    remedies: WRONG_PATH,
  })
}

function refused(fault: HttpFault, host: string): JobFailedError {
  const words = detailWords(fault)
  const code = fault.reason === 'start-error' ? 'ERR_START_REFUSED' : 'ERR_REQUEST_REFUSED'
  const remedies = ['Report the request and its status to the operator of the service, or of the proxy before it.']
  return new JobFailedError(code, `${host} refused ${purpose(fault)} (${fault.status})${words}.`, {
    cause: fault,
    remedies,
  })
}

function authFailed(fault: HttpFault, host: string): AccessError {
  const words = detailWords(fault)
  return new AccessError('ERR_AUTH_FAILED', `${host} rejected the credentials${words}.`, {
    cause: fault,
    remedies: [
      'Compare tenant id, client id, client secret and scope with the developer portal.',
      'A secret expires after two years. Regenerate it in the portal.',
    ],
  })
}

function withFileError(
  fault: HttpFault,
  code: `ERR_${string}`,
  host: string,
  errorCode: -10 | -11 | -13,
  remedies?: readonly string[],
): JobFailedError {
  const info = fileErrorInfo(errorCode)
  const words = detailWords(fault)
  return new JobFailedError(code, `${host} refused ${purpose(fault)}, ${info.meaning.replace(/\.$/, '')}${words}.`, {
    cause: fault,
    errorCode: info.code,
    errorName: info.name,
    remedies: remedies ?? info.remedies,
  })
}

function redirects(fault: HttpFault): boolean {
  return fault.reason === 'status' && (fault.status ?? 0) >= 300 && (fault.status ?? 0) < 400
}

function detailWords({ detail }: HttpFault): string {
  return detail ? `: ${detail}` : ''
}
