/** `20260101T120000Z`, the format of Amazon and Google signatures. */
const BASIC_ISO = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/

/**
 * Remaining validity of a signed link: Azure (`se`), Amazon and Google (`X-Amz-Date` with `X-Amz-Expires`, `X-Goog-…`),
 * and links with a Unix timestamp in `Expires`.
 *
 * @returns seconds, negative after expiry; null if the link does not contain its expiry
 */
export function linkValidSec(address: string, nowMs: number = Date.now()): number | null {
  const query = new Map([...new URL(address).searchParams].map(([name, value]) => [name.toLowerCase(), value]))
  const endMs = azureEnd(query) ?? signedEnd(query, 'x-amz') ?? signedEnd(query, 'x-goog') ?? plainEnd(query)
  return endMs === null || Number.isNaN(endMs) ? null : (endMs - nowMs) / 1000
}

type Query = ReadonlyMap<string, string>

function azureEnd(query: Query): number | null {
  const end = query.get('se')
  return end !== undefined && query.has('sig') ? Date.parse(end) : null
}

function signedEnd(query: Query, vendor: string): number | null {
  const [date, expires] = [query.get(`${vendor}-date`), query.get(`${vendor}-expires`)]
  const match = BASIC_ISO.exec(date ?? '')
  if (!match || expires === undefined) return null
  const [, year, month, day, hour, minute, second] = match.map(Number) as [number, ...number[]]
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second) + Number(expires) * 1000
}

function plainEnd(query: Query): number | null {
  const expires = query.get('expires')
  return expires !== undefined && /^\d{9,11}$/.test(expires) ? Number(expires) * 1000 : null
}
