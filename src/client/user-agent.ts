import { voxmuxVersion } from '../core/version.js'

/** `voxmux/<version>`, as every request says it. */
export const USER_AGENT = `voxmux/${voxmuxVersion()}`
