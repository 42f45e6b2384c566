/** What stands where a secret stood. */
const MASK = '[redacted]'

/** An address without user, password, query and fragment: signed links carry their secret in the query. */
export function redactUrl(address: string | URL): string {
  const url = typeof address === 'string' ? (URL.canParse(address) ? new URL(address) : undefined) : address
  if (!url) return MASK
  const query = url.search ? `?${MASK}` : ''
  return `${url.protocol}//${url.host}${url.pathname}${query}`
}

/** Removes the queries of every http(s) address and every bearer token from a text. */
export function redactText(text: string): string {
  return text
    .replace(/https?:\/\/[^\s"'<>]+/g, (address) => redactUrl(address))
    .replace(/\b(bearer)\s+[\w.~+/-]+=*/gi, `$1 ${MASK}`)
    .replace(
      /\b(client_secret|webhook_secret|secret|password|access_token)(["']?\s*[:=]\s*["']?)[^\s"'&,}]+/gi,
      `$1$2${MASK}`,
    )
}
