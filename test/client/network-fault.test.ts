import { expect, it } from 'vitest'
import { networkFault } from '../../src/client/network-fault.js'

const openssl = (reason: string) =>
  `write EPROTO 80CC21B1127F0000:error:0A00042E:SSL routines:ssl3_read_bytes:${reason}:../deps/openssl/ssl/record.c:1601:\n`

it.each([
  ['EPROTO', openssl('wrong version number'), 'insecure', 'wrong version number'],
  ['EPROTO', openssl('tlsv1 alert protocol version'), 'insecure', 'tlsv1 alert protocol version'],
  ['EPROTO', openssl('tlsv1 alert internal error'), 'network', 'tlsv1 alert internal error'],
  ['ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', openssl('bad record mac'), 'network', 'bad record mac'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'Host: a.', 'insecure', 'Host: a.'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'no issuer', 'insecure', 'no issuer'],
  ['ECONNRESET', 'socket hang up', 'network', 'socket hang up'],
  ['ENOTFOUND', 'getaddrinfo', 'unsent', 'getaddrinfo'],
] as const)('%s with %j is %s, in the words %j', (code, message, reason, detail) => {
  const fault = networkFault('upload', Object.assign(new Error(message), { code }))
  expect(fault).toMatchObject({ reason, detail, transient: reason !== 'insecure' })
})
