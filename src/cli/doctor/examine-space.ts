import { TransientError } from '../../core/errors.js'
import { describeBytes } from '../../precheck/index.js'
import { type Finding, fault, fine, remark } from './finding.js'

/** An hour of uncompressed stereo takes 1 GB, so less space than this soon fills up. */
const LITTLE_SPACE_BYTES = 2 * 1000 ** 3
/** With less space than this, even a short file fails. */
const FULL_BYTES = 100 * 1000 ** 2

/** Judges the free bytes on the disk of the state folder. */
export function examineSpace(stateDir: string, freeBytes: number): Finding {
  const [check, detail] = ['free space', `${describeBytes(freeBytes)} free`]
  const remedies = [`Free some space on the disk of ${stateDir}, or name a folder on another one in VOXMUX_STATE_DIR.`]
  if (freeBytes < FULL_BYTES)
    return fault(check, new TransientError('ERR_DISK_FULL', `The disk is full: ${detail}.`, { remedies }))
  return freeBytes < LITTLE_SPACE_BYTES ? remark(check, `only ${detail}`, remedies) : fine(check, detail)
}
