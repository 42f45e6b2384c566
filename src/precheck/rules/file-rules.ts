import { LIMITS } from '../../contract/index.js'
import { describeBytes, describeDuration } from '../describe.js'
import type { Rule } from './rule.js'

/** -16 */
const unsupportedContainer: Rule = {
  errorCode: -16,
  problem: ({ container }, { containers }) =>
    container === null || containers === undefined || containers.includes(container)
      ? null
      : `Container ${container}, accepted are ${containers.join(', ')}.`,
}

/** -13 */
const tooLarge: Rule = {
  errorCode: -13,
  problem: ({ sizeBytes }, { maxSizeBytes }) =>
    sizeBytes !== null && maxSizeBytes !== undefined && sizeBytes > maxSizeBytes
      ? `${describeBytes(sizeBytes)}, at most ${describeBytes(maxSizeBytes)} are accepted.`
      : null,
}

/** -14: an empty file is too short for every service. */
const tooShort: Rule = {
  errorCode: -14,
  problem: ({ durationSec, tracks }, { minDurationSec = 0 }) => {
    if (durationSec === null || tracks.length === 0 || (durationSec > 0 && durationSec >= minDurationSec)) return null
    const wanted = minDurationSec > 0 ? `, at least ${describeDuration(minDurationSec)} are required` : ''
    return `${describeDuration(durationSec)} of sound${wanted}.`
  },
}

/** -15 */
const tooLong: Rule = {
  errorCode: -15,
  problem: ({ durationSec }, { maxDurationSec }) =>
    durationSec !== null && maxDurationSec !== undefined && durationSec > maxDurationSec
      ? `${describeDuration(durationSec)} long, at most ${describeDuration(maxDurationSec)} are accepted.`
      : null,
}

/** -17: the service may download the file at any time within the hour (interface, "Limits"). */
const linkExpires: Rule = {
  errorCode: -17,
  problem: ({ linkValidSec }) => {
    if (linkValidSec === null || linkValidSec >= LIMITS.sourceUrlValidSec) return null
    return linkValidSec <= 0
      ? 'The link has expired.'
      : `The link expires in ${describeDuration(linkValidSec)}; the service needs it for an hour.`
  },
}

/** Requirements for the file as a whole. */
export const FILE_RULES: readonly Rule[] = [unsupportedContainer, tooLarge, tooShort, tooLong, linkExpires]
