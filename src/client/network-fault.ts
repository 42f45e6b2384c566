import { thrownMessage } from '../core/errors.js'
import { HttpFault } from './http-fault.js'
import { isInsecure, plainReason } from './insecure-connection.js'

const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN'])

/**
 * The fault of a request that got no response, by the code of the error that Node or a library threw.
 *
 * @param unusedProxy name of the variable with a proxy that is not in use
 */
export function networkFault(operation: string, thrown: unknown, unusedProxy?: string): HttpFault {
  const code = (thrown as NodeJS.ErrnoException).code ?? ''
  const message = thrownMessage(thrown)
  const reason = isInsecure(code, message) ? 'insecure' : UNSENT.has(code) ? 'unsent' : 'network'
  return new HttpFault({ operation, reason, detail: plainReason(message), unusedProxy })
}
