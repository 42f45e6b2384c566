/** Codes of certificates that Node refuses. */
const REFUSED_CERTIFICATE =
  /^(CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH_|ERROR_IN_CERT_|ERR_TLS_CERT)/

const NO_TLS = /wrong version number|packet length too long|http request/
const NOTHING_IN_COMMON =
  /protocol version|unsupported protocol|no protocols available|no shared cipher|handshake failure|unsafe legacy/
const CLIENT_CERTIFICATE = /certificate required|alert bad certificate|alert unknown ca/
const OTHER_NAME = /unrecognized name/

/** True if a connection failed for a reason that no retry heals: the certificate, or no TLS in common. */
export function isInsecure(code: string, message: string): boolean {
  if (REFUSED_CERTIFICATE.test(code)) return true
  return /^(EPROTO|ERR_SSL_)/.test(code) && CURES.some(([words]) => words.test(message))
}

/** OpenSSL's reason without its numbers and the place in its source; any other text unchanged. */
export function plainReason(message: string): string {
  return /:SSL routines:[^:]*:([^:]+):/.exec(message)?.[1] ?? message
}

/** The next step after an insecure connection. @param detail of its fault */
export function insecureRemedy(detail: string): string {
  const cure = [...CURES, ...OTHER_CURES].find(([words]) => words.test(detail))
  return cure?.[1] ?? 'If your own authority issued the certificate, set NODE_EXTRA_CA_CERTS to its file.'
}

type Cures = readonly (readonly [words: RegExp, remedy: string])[]

const CHECK_NAME = 'Check the address. If it is right, a proxy or a login page responds in place of the service.'

const CURES: Cures = [
  [NO_TLS, 'Check the port of the address: the server does not speak TLS there.'],
  [
    CLIENT_CERTIFICATE,
    'The server requires a certificate of the client, and voxmux has none. Ask its operator for another address.',
  ],
  [NOTHING_IN_COMMON, 'The server must offer TLS 1.2 or newer. Ask its operator, or look for a proxy in between.'],
  [OTHER_NAME, CHECK_NAME],
]

const OTHER_CURES: Cures = [
  [
    /has expired|not yet valid/,
    'Check the clock of this machine. If it is right, the operator of the service must renew the certificate.',
  ],
  [/does not match certificate|hostname mismatch/i, CHECK_NAME],
  [/speaks https/, 'Begin the address with https: instead of http: (VOXMUX_BASE_URL, VOXMUX_AUTH_URL).'],
  [/redirect/, 'Report it to the operator of the service: it redirects to an address that is not safe.'],
]
