import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A certificate with its key. */
export interface TestSigner {
  readonly cert: string
  readonly key: string
}

interface SignOptions {
  readonly usage?: string
  readonly days?: number
  readonly key?: string
  /** Name of a server that the certificate is for. */
  readonly host?: string
}

/** A private certificate authority in a folder. */
export interface TestAuthority {
  /** Its certificate as PEM: the trust list. */
  readonly trust: string
  readonly trustFile: string
  /** Makes a certificate that C2PA accepts, unless its usage or its days say otherwise. */
  sign(name: string, options?: SignOptions): TestSigner
}

/** Makes an authority with openssl. */
export function makeAuthority(folder: string): TestAuthority {
  const file = (name: string) => join(folder, name)
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const newKey = (name: string, kind: string) => {
    const [algorithm, ...options] = kind.split(' ')
    const settings = options.flatMap((option) => ['-pkeyopt', option])
    openssl('genpkey', '-algorithm', algorithm ?? '', ...settings, '-out', file(name))
    return file(name)
  }
  const ec = 'EC ec_paramgen_curve:P-256'
  const trustFile = file('authority.pem')
  const authorityKey = newKey('authority.key', ec)
  const self = ['-x509', '-days', '30', '-subj', '/O=Test archive/CN=Test authority', '-out', trustFile]
  const usages = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign']
  openssl('req', '-new', '-key', authorityKey, ...self, ...usages.flatMap((usage) => ['-addext', usage]))
  return {
    trust: readFileSync(trustFile, 'utf8'),
    trustFile,
    sign(name, { usage = 'emailProtection', days = 30, key: kind = ec, host } = {}) {
      const key = newKey(`${name}.key`, kind)
      const [request, cert, extensions] = [file(`${name}.csr`), file(`${name}.pem`), file(`${name}.ext`)]
      openssl('req', '-new', '-key', key, '-subj', `/O=Test archive/CN=${name}`, '-out', request)
      const lines = ['basicConstraints=critical,CA:FALSE', 'keyUsage=critical,digitalSignature']
      const more = [`extendedKeyUsage=${usage}`, ...(host ? [`subjectAltName=DNS:${host}`] : [])]
      writeFileSync(extensions, [...lines, ...more, 'authorityKeyIdentifier=keyid', ''].join('\n'))
      const by = ['-CA', trustFile, '-CAkey', authorityKey, '-CAcreateserial', '-days', String(days)]
      openssl('x509', '-req', '-in', request, ...by, '-extfile', extensions, '-out', cert)
      return { cert, key }
    },
  }
}
