import { UsageError } from '../../src/core/errors.js'
import { valueSha256 } from '../../src/core/file-identity.js'
import type { ServerKey } from './server-key.js'

/** How long a plan may be run after it was shown. */
const VALID_MS = 3_600_000

/**
 * The token of a plan. It holds the time of its end, and a signature of all that the person was shown.
 *
 * @param shown file, options and cost: plain JSON
 */
export function planToken(key: ServerKey, shown: object, nowMs = Date.now()): { token: string; expires: string } {
  const endMs = nowMs + VALID_MS
  return {
    token: `${endMs.toString(36)}.${key.sign(signedText(endMs, shown))}`,
    expires: new Date(endMs).toISOString(),
  }
}

/**
 * Requires that a token is that of exactly this plan.
 *
 * @throws {UsageError} `ERR_PLAN_TOKEN`, `ERR_PLAN_EXPIRED`
 */
export function requirePlanToken(key: ServerKey, token: string, shown: object, nowMs = Date.now()): void {
  const [end = '', signature = ''] = token.split('.')
  const endMs = Number.parseInt(end, 36)
  const remedies = ['Call `plan` again, show the new plan, and give its token to `run` as `plan`.']
  if (!key.isSigned(signedText(endMs, shown), signature))
    throw new UsageError(
      'ERR_PLAN_TOKEN',
      'The token does not belong to this plan: the file, an option or the cost has changed since it was shown.',
      { remedies },
    )
  if (nowMs > endMs) throw new UsageError('ERR_PLAN_EXPIRED', 'The plan is older than an hour.', { remedies })
}

function signedText(endMs: number, shown: object): string {
  return `${endMs} ${valueSha256(shown)}`
}
