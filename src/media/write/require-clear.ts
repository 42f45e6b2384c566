import { PrecheckError } from '../../core/errors.js'
import type { MuxPlan } from './remux/mux-plan.js'

/**
 * Refuses encrypted tracks in a copy: ffmpeg leaves out the description of their keys.
 *
 * @throws {PrecheckError} ERR_TRACK_ENCRYPTED
 */
export function requireClear({ media, streams }: MuxPlan): void {
  const locked = streams.find(({ fate, input }) => fate === 'copied' && input.isEncrypted)
  if (!locked) return
  const name = `${locked.input.kind} stream ${locked.input.index}`
  throw new PrecheckError('ERR_TRACK_ENCRYPTED', `Ffmpeg copies no keys, and ${name} of ${media.path} is encrypted.`, {
    input: media.path,
    remedies: ['Use the file before encryption.'],
  })
}
