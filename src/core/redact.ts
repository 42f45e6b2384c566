const MASK = '[redacted]'

/** Removes user, password, query and fragment from an address. Signed links have their secret in the query. */
export function redactUrl(address: string | URL): string {
  const url = typeof address === 'string' ? (URL.canParse(address) ? new URL(address) : undefined) : address
  if (!url) return MASK
  const query = url.search ? `?${MASK}` : ''
  return `${url.protocol}//${url.host}${url.pathname}${query}`
}

/**
 * A name that ends in `secret`, `password` or `access token`, with its value: quoted, quoted in JSON, or bare. It matches
 * the end of the name alone: a search for its beginning would try every letter of a long word as one.
 */
const NAMED_SECRET =
  /((?:secret|password|access_?token)\\*["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*|\\+"[^"\\]*|'[^']*|[^\s"'&,}\\]+)/gi

/** Removes the query of every http(s) address, every bearer token and every named secret from a text. */
export function redactText(text: string): string {
  return text
    .replace(/https?:\/\/[^\s"'<>]+/gi, (address) => redactUrl(address))
    .replace(/\b(bearer)\s+[\w.~+/-]+=*/gi, `$1 ${MASK}`)
    .replace(NAMED_SECRET, (_, name: string, value: string) => `${name}${/^\\*["']/.exec(value)?.[0] ?? ''}${MASK}`)
}
