import { JobFailedError } from '../../../core/errors.js'
import type { BytePlan } from '../byte-plan.js'
import { haveSameSizes } from '../pes/timed-frames.js'
import { withReplacements } from '../replacements.js'
import { PLAIN_BYTES } from '../structure/transport-pids.js'
import { type NewTransportSound, soundEdits } from './lay-out-sound.js'
import { fitsPadding } from './spare-packets.js'
import type { TransportFile } from './transport-file.js'
import { unitShares } from './unit-shares.js'

/**
 * Lays out a transport stream in which new frames take the places of old ones. Every other byte stays.
 *
 * @throws {JobFailedError} ERR_ENCODER_OUTPUT
 */
export function layOutTransport(file: TransportFile, sounds: readonly NewTransportSound[]): BytePlan {
  const { sizeBytes, grid, isElastic } = file
  const isAlone = sounds.length === 1
  if (sounds.some((sound) => !fits(file, sound, isAlone))) {
    throw new JobFailedError('ERR_ENCODER_OUTPUT', 'The encoder wrote frames whose size does not match its bit rate.')
  }
  const places = {
    startOf: (number: number) => grid.first + number * grid.size,
    late: isElastic ? null : file.end,
    stampBytes: grid.size - PLAIN_BYTES,
  }
  return withReplacements(sizeBytes, () => sounds.map((sound) => soundEdits(sound, places)))
}

/** False if packets that belong to their places would have to carry other numbers of bytes. @param isAlone no other track needs the padding */
function fits({ isElastic, grid }: TransportFile, { sound, made }: NewTransportSound, isAlone: boolean): boolean {
  if (haveSameSizes(sound, made)) return true
  if (sound.isRigid || (grid.size !== PLAIN_BYTES && !isElastic)) return false
  const shareOf = unitShares(sound, made)
  const bytesOf = (unit: number) => sound.units.headBytes(unit) + shareOf(unit).to - shareOf(unit).from
  return isElastic || (isAlone && fitsPadding(sound, bytesOf))
}
