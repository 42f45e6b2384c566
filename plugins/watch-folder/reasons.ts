import type { PassedOver } from './candidates/scan-folder.js'
import type { Wholeness } from './candidates/wholeness.js'

/** Why something in the folder is skipped. */
export const PASSED_OVER: Readonly<Record<PassedOver, string>> = {
  link: 'links are not followed',
  name: 'its name is not UTF-8, so rename it',
  unreadable: 'it cannot be read',
}

/** Why an output of voxmux is skipped. */
export const OWN_OUTPUT = 'its receipt says that voxmux made it'

/** Why a file is not taken yet. */
export const WAITS: Readonly<Record<(Wholeness & { state: 'waits' })['why'], string>> = {
  marker: 'waits for its marker',
  open: 'waits: a process has it open for writing',
  hollow: 'waits: part of it is nothing but zeros',
  unreadable: 'waits: it cannot be read to its end',
}
