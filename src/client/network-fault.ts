import { thrownMessage } from '../core/thrown-message.js'
import { HttpFault } from './http-fault.js'

const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN'])
const INSECURE = /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/

/** The fault of a request that got no response, by the code of the error that Node or a library threw. */
export function networkFault(operation: string, thrown: unknown): HttpFault {
  const code = (thrown as NodeJS.ErrnoException).code ?? ''
  const reason = INSECURE.test(code) ? 'insecure' : UNSENT.has(code) ? 'unsent' : 'network'
  return new HttpFault({ operation, reason, detail: thrownMessage(thrown) })
}
