import { fileErrorInfo } from '../contract/index.js'
import { AccessError, JobFailedError, TransientError, UsageError, type VoxmuxError } from '../core/errors.js'
import type { HttpFault } from './http-fault.js'

/**
 * Says a fault in a person's terms.
 *
 * @param host where the exchange went, for the sentence
 * @returns `ERR_SERVICE_UNREACHABLE`, `ERR_SERVICE_BUSY`, `ERR_BAD_ANSWER` (transient), `ERR_AUTH_FAILED`,
 *   `ERR_ACCESS_DENIED` (access), `ERR_NOT_FOUND`, `ERR_REQUEST_REFUSED`, `ERR_START_CONFLICT`, `ERR_START_REFUSED`
 *   (job failed), `ERR_INSECURE_ADDRESS`, `ERR_WRONG_ADDRESS` (usage); its `cause` is the fault
 */
export function faultError(fault: HttpFault, host: string): VoxmuxError {
  const words = fault.detail ? ` (${fault.detail})` : ''
  switch (fault.reason) {
    case 'unsent':
    case 'network':
    case 'timeout':
      return new TransientError(
        'ERR_SERVICE_UNREACHABLE',
        `${host} could not be reached for ${fault.operation}${words}.`,
        {
          cause: fault,
          remedies: ['Check the address and the network, then run again: what was sent is kept.'],
        },
      )
    case 'insecure':
      return new UsageError('ERR_INSECURE_ADDRESS', `The connection to ${host} is not safe${words}.`, {
        cause: fault,
        remedies: ['If the certificate is of your own authority, name it in NODE_EXTRA_CA_CERTS.'],
      })
    case 'bad-answer':
      return new TransientError(
        'ERR_BAD_ANSWER',
        `${host} gave an answer to ${fault.operation} that cannot be read${words}.`,
        {
          cause: fault,
          remedies: ['Check that the address is that of the service itself, then try again.'],
        },
      )
    case 'status':
    case 'start-error':
      return fault.operation === 'token' ? tokenError(fault, host) : statusError(fault, host)
    default:
      return fault.reason satisfies never
  }
}

/** The identity provider refuses with 400 or 401 (RFC 6749) or 404 (no such tenant): all the same to a person. */
function tokenError(fault: HttpFault, host: string): VoxmuxError {
  if (fault.transient || fault.status === 403 || redirects(fault)) return statusError(fault, host)
  return authFailed(fault, host)
}

function statusError(fault: HttpFault, host: string): VoxmuxError {
  const status = fault.status ?? 0
  const words = fault.detail ? `: ${fault.detail}` : ''
  if (fault.transient) {
    const how = status === 429 ? 'asks for fewer requests' : `is busy (${status})`
    return new TransientError('ERR_SERVICE_BUSY', `${host} ${how} at ${fault.operation}${words}.`, {
      cause: fault,
      remedies: ['Try again in some minutes: what was sent is kept.'],
    })
  }
  if (redirects(fault)) {
    return new UsageError('ERR_WRONG_ADDRESS', `${host} answers ${fault.operation} with a redirect (${status}).`, {
      cause: fault,
      remedies: ['Configure the address it leads to.'],
    })
  }
  const starting = fault.operation === 'startProcess'
  switch (status) {
    case 401:
      return authFailed(fault, host)
    case 403:
      return new AccessError('ERR_ACCESS_DENIED', `${host} denies access to ${fault.operation}${words}.`, {
        cause: fault,
        remedies: ['Check in the developer portal that this API key and its scope may use the service.'],
      })
    case 402:
      return withFileError(fault, starting ? 'ERR_START_REFUSED' : 'ERR_REQUEST_REFUSED', host, -10)
    case 404:
      return withFileError(fault, 'ERR_NOT_FOUND', host, -11)
    case 409:
      return new JobFailedError(
        starting ? 'ERR_START_CONFLICT' : 'ERR_REQUEST_REFUSED',
        `${host} sees a conflict at ${fault.operation}${words}.`,
        { cause: fault, remedies: ['Run again: the file may be started already, or was not uploaded.'] },
      )
    default:
      return new JobFailedError(
        starting && fault.reason === 'start-error' ? 'ERR_START_REFUSED' : 'ERR_REQUEST_REFUSED',
        `${host} refused ${fault.operation} (${status})${words}.`,
        { cause: fault },
      )
  }
}

function authFailed(fault: HttpFault, host: string): AccessError {
  const words = fault.detail ? `: ${fault.detail}` : ''
  return new AccessError('ERR_AUTH_FAILED', `${host} does not accept the credentials${words}.`, {
    cause: fault,
    remedies: [
      'Check tenant id, client id, client secret and scope against the developer portal.',
      'A secret is good for two years and can be regenerated in the portal.',
    ],
  })
}

function withFileError(fault: HttpFault, code: `ERR_${string}`, host: string, errorCode: -10 | -11): JobFailedError {
  const info = fileErrorInfo(errorCode)
  const words = fault.detail ? `: ${fault.detail}` : ''
  return new JobFailedError(code, `${host} refused ${fault.operation}, ${info.meaning.replace(/\.$/, '')}${words}.`, {
    cause: fault,
    errorCode: info.code,
    errorName: info.name,
    remedies: info.remedies,
  })
}

function redirects(fault: HttpFault): boolean {
  return fault.reason === 'status' && (fault.status ?? 0) >= 300 && (fault.status ?? 0) < 400
}
