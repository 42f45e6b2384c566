import { UsageError } from '../core/errors.js'

/**
 * Refuses a password in a flag: every user of the machine can read command lines in the list of processes.
 *
 * @param store address from a flag
 * @throws {UsageError} `ERR_STORE_PASSWORD_SHOWN`
 */
export function refuseShownPassword(store: string): void {
  if (!URL.canParse(store) || new URL(store).password === '') return
  throw new UsageError('ERR_STORE_PASSWORD_SHOWN', 'A password in --store can be read by every user of this machine.', {
    remedies: ['Set the address in VOXMUX_STORE, or as "store" in a configuration file that only you can read.'],
  })
}
