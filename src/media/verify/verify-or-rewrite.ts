import { rm } from 'node:fs/promises'
import { VerificationError } from '../../core/errors.js'
import type { MuxResult } from '../write/remux/mux.js'
import type { MuxPlan } from '../write/remux/mux-plan.js'
import { type MuxVerification, type VerifyOptions, verifyMux } from './verify-mux.js'

/**
 * Verifies a part file. If it fails and has joined packets, it is written again with tracks that are encoded from start
 * to end. The voice is paid for by then.
 *
 * @param rewrite writes the part file without joints
 * @throws {VerificationError} ERR_VERIFY_FAILED
 */
export async function verifyOrRewrite(
  plan: MuxPlan,
  muxed: MuxResult,
  partPath: string,
  options: VerifyOptions,
  rewrite: () => Promise<MuxResult>,
): Promise<{ readonly muxed: MuxResult; readonly verification: MuxVerification }> {
  try {
    return { muxed, verification: await verifyMux(plan, muxed, partPath, options) }
  } catch (error) {
    const isJoined = muxed.voices.some(({ splice }) => splice?.kind === 'spliced')
    if (!(error instanceof VerificationError) || !isJoined) throw error
    await rm(partPath, { force: true })
    const whole = await rewrite()
    return { muxed: whole, verification: await verifyMux(plan, whole, partPath, options) }
  }
}
