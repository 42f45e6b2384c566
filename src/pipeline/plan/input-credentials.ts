import { readCredentials } from '../../credentials/index.js'
import { type MuxPlan, SIGNS_OLD_BYTES } from '../../media/index.js'
import type { MediaInfo } from '../../media/media-info.js'

/**
 * Plans what becomes of the Content Credentials of an input. A signed output carries them on as its parent, so they are
 * not lost.
 *
 * @returns the plan, and the credentials; null if the output is not signed, or the input has none
 * @throws {UsageError} `ERR_CREDENTIALS_PACKAGE`
 */
export async function withInputCredentials(media: MediaInfo, mux: MuxPlan, isSigned: boolean) {
  if (!isSigned) return { mux, credentials: null, notes: [] }
  const credentials = await readCredentials(media.path, media.container)
  const losses = mux.losses.filter(({ reason }) => reason !== SIGNS_OLD_BYTES)
  // The package also fails for files that it cannot read. They have credentials only if voxmux finds them itself.
  const isUnread = credentials?.signer === null && losses.length === mux.losses.length
  if (credentials === null || isUnread) {
    return { mux, credentials: null, notes: ['The output is signed with Content Credentials.'] }
  }
  const { signer, state, failures } = credentials
  const validity = state === 'invalid' ? `not valid (${failures.join(', ')})` : 'valid'
  const note = `The input has Content Credentials of ${signer ?? 'an unknown signer'}, which are ${validity}. They become the parent of the output's.`
  return { mux: { ...mux, losses }, credentials, notes: [note] }
}
