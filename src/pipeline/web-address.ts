import { redactUrl } from '../core/redact.js'

/** True for an address to download. */
export function isWebAddress(input: string): boolean {
  return /^https?:\/\//i.test(input)
}

/** The input without secrets, for ledger, events and logs. */
export function shownInput(input: string): string {
  return isWebAddress(input) ? redactUrl(input) : input
}

/** Begin the parameters of signed links: Amazon, Google, Alibaba and Tencent. */
const SIGNING_PREFIX = /^(x-amz|x-goog|x-oss|q)-/
/** Sign a link or limit its time. Each link to the same file has other values. */
const SIGNING: ReadonlySet<string> = new Set([
  ...['sig', 'signature', 'policy', 'key-pair-id', 'awsaccesskeyid', 'googleaccessid', 'ossaccesskeyid'],
  ...['token', 'access_token', 'security-token', 'authorization', 'hdnts', 'hdnea', '__token__'],
  ...['expires', 'expire', 'expiry', 'exp'],
])
/** Words that belong to a signature only beside this parameter: of Azure, and of nginx. */
const COMPANIONS: Readonly<Record<string, ReadonlySet<string>>> = {
  sig: new Set('se st sp sv sr spr sip si sdd ses skoid sktid skt ske sks skv saoid suoid scid'.split(' ')),
  expires: new Set(['md5', 'hash']),
}

/** The part of an address that identifies its file: all but a signature, which changes. */
export function lastingAddress(address: string): {
  readonly origin: string
  readonly pathname: string
  readonly query: readonly (readonly [string, string])[]
} {
  const { origin, pathname, searchParams } = new URL(address)
  const there = Object.entries(COMPANIONS).filter(([name]) => searchParams.has(name))
  const signs = (name: string) =>
    SIGNING.has(name) || SIGNING_PREFIX.test(name) || there.some(([, companions]) => companions.has(name))
  const query = [...searchParams].filter(([name]) => !signs(name.toLowerCase()))
  return { origin, pathname, query: query.sort(([one], [other]) => (one < other ? -1 : 1)) }
}
