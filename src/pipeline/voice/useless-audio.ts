import { TransientError, VerificationError } from '../../core/errors.js'
import type { VoiceRequest } from './voice-service.js'

/**
 * Requires that this computer can decode the voice that was sent. If it cannot, its ffmpeg, memory or limits are to
 * blame for the useless audio, and another payment would not help. A voice that the service fetched is not here.
 *
 * @throws {TransientError} `ERR_DECODER_FAILS`
 */
export async function requireDecoder(
  { source, judge }: Pick<VoiceRequest<unknown>, 'source' | 'judge'>,
  { input, cause }: VerificationError,
  signal: AbortSignal,
): Promise<void> {
  if (source.kind === 'address') return
  try {
    await judge(source.path, signal)
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error
    const message = 'This computer can decode neither the regenerated audio nor the voice that was sent.'
    const remedies = [
      'Run `voxmux doctor` to check ffmpeg, and look for limits on memory or processes. Then run again: you do not pay twice.',
    ]
    throw new TransientError('ERR_DECODER_FAILS', message, { cause, input, remedies })
  }
}

/** The error of a connection that damages each download in another way. */
export function damagedDownloads(cause: VerificationError): TransientError {
  const message = `Every download of the regenerated audio arrived with other bytes, and none is usable. ${cause.message}`
  const remedies = ['Check the network or its proxy. Then run again: the next download costs nothing.']
  return new TransientError('ERR_DOWNLOAD_DAMAGED', message, { cause, input: cause.input, remedies })
}

/** The error of a service that was paid for two outputs, both useless. */
export function unusableTwice(error: VerificationError, fileIds: readonly (string | null)[]): VerificationError {
  const ids = fileIds.join(', ')
  const message = `${error.message} The service returned unusable audio twice (file ids ${ids}), so voxmux gave up.`
  const { cause, input } = error
  const remedies = [...error.remedies, 'Report the file ids to the operator of the service.']
  return new VerificationError(error.code, message, { cause, input, remedies })
}
