import { rm } from 'node:fs/promises'
import type { MuxResult } from '../write/remux/mux.js'
import type { MuxPlan } from '../write/remux/mux-plan.js'
import { examineMux, type MuxVerification, type VerifyOptions, verificationFailure, verifyMux } from './verify-mux.js'

interface VerifyOrRewriteOptions extends VerifyOptions {
  /** Writes the part file without joints. Gets the differences that it must not have again. */
  readonly rewrite: (differences: string) => Promise<MuxResult>
}

/**
 * Verifies a part file. If it fails and has joined packets, it is written again with tracks that are encoded from start
 * to end. The voice is paid for by then.
 *
 * @throws {VerificationError} ERR_VERIFY_FAILED
 */
export async function verifyOrRewrite(
  plan: MuxPlan,
  muxed: MuxResult,
  partPath: string,
  { rewrite, ...options }: VerifyOrRewriteOptions,
): Promise<{ readonly muxed: MuxResult; readonly verification: MuxVerification }> {
  const verification = await examineMux(plan, muxed, partPath, options)
  if (!('differences' in verification)) return { muxed, verification }
  const isJoined = muxed.voices.some(({ splice }) => splice?.kind === 'spliced')
  if (!isJoined) throw verificationFailure(plan, verification)
  await rm(partPath, { force: true })
  const whole = await rewrite(verification.differences.join('; '))
  return { muxed: whole, verification: await verifyMux(plan, whole, partPath, options) }
}
