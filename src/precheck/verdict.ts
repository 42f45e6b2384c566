import { z } from 'zod'
import { type FileErrorCode, fileErrorCodeSchema, fileErrorInfo } from '../contract/index.js'
import { type ErrorCode, PrecheckError } from '../core/errors.js'

/** One problem of a file, with the service's error code. `refuse`: nothing is sent. `warn`: reported and sent. */
export const verdictSchema = z.object({
  errorCode: fileErrorCodeSchema,
  name: z.string(),
  message: z.string(),
  remedies: z.array(z.string()).readonly(),
  severity: z.enum(['refuse', 'warn']),
})
export type Verdict = Readonly<z.infer<typeof verdictSchema>>
export type Severity = Verdict['severity']

/** The stable error code for each file error code that can end a pre-check. */
const ERROR_CODES: Partial<Record<FileErrorCode, ErrorCode>> = {
  [-2]: 'ERR_UNREADABLE',
  [-3]: 'ERR_NOT_ENOUGH_VOICE',
  [-4]: 'ERR_TOO_MANY_CHANNELS',
  [-5]: 'ERR_QUALITY_TOO_HIGH',
  [-6]: 'ERR_QUALITY_TOO_LOW',
  [-7]: 'ERR_UNSUPPORTED_CODEC',
  [-8]: 'ERR_SEVERAL_TRACKS',
  [-13]: 'ERR_FILE_TOO_LARGE',
  [-14]: 'ERR_TOO_SHORT',
  [-15]: 'ERR_TOO_LONG',
  [-16]: 'ERR_UNSUPPORTED_CONTAINER',
  [-17]: 'ERR_LINK_EXPIRES',
  [-18]: 'ERR_NO_AUDIO',
}

/** Creates a verdict with the name of its code and, unless others are given, the code's remedies. */
export function verdict(
  errorCode: FileErrorCode,
  message: string,
  severity: Severity,
  remedies?: readonly string[],
): Verdict {
  const info = fileErrorInfo(errorCode)
  return { errorCode, name: info.name, message, severity, remedies: remedies ?? info.remedies }
}

/**
 * Creates the error of a refused file. The first refusal sets the code, and the message lists them all.
 *
 * @param input path or address of the file, named in the message
 * @returns undefined if no verdict refuses the file
 */
export function refusalError(input: string, verdicts: readonly Verdict[]): PrecheckError | undefined {
  const refusals = verdicts.filter(({ severity }) => severity === 'refuse')
  const [first] = refusals
  if (!first) return undefined
  const reasons = refusals.map((refusal) => refusal.message.replace(/\.$/, '')).join('; ')
  return new PrecheckError(ERROR_CODES[first.errorCode] ?? 'ERR_REFUSED', `${input}: ${reasons}.`, {
    input,
    errorCode: first.errorCode,
    errorName: first.name,
    remedies: [...new Set(refusals.flatMap((refusal) => refusal.remedies))],
  })
}
