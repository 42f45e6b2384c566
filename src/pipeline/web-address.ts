import { redactUrl } from '../core/redact.js'

/** True for an address to download. */
export function isWebAddress(input: string): boolean {
  return /^https?:\/\//i.test(input)
}

/** The input without secrets, for ledger, events and logs. */
export function shownInput(input: string): string {
  return isWebAddress(input) ? redactUrl(input) : input
}

/** The part of an address that identifies its file. Its query has the signature, which changes. */
export function lastingAddress(address: string): { readonly origin: string; readonly pathname: string } {
  const { origin, pathname } = new URL(address)
  return { origin, pathname }
}
