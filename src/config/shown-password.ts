import { UsageError } from '../core/errors.js'

/**
 * A command line stands in the list of processes, for every user of the machine to read.
 *
 * @param store an address that was given as a flag
 * @throws UsageError `ERR_STORE_PASSWORD_SHOWN`
 */
export function refuseShownPassword(store: string): void {
  if (!URL.canParse(store) || new URL(store).password === '') return
  throw new UsageError('ERR_STORE_PASSWORD_SHOWN', 'A password in --store can be read by every user of this machine.', {
    remedies: ['Put the address into VOXMUX_STORE, or into a configuration file that only you can read.'],
  })
}
