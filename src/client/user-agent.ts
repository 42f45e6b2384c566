import { voxmuxVersion } from '../core/version.js'

/** `voxmux/<version>`, sent with every request. */
export const USER_AGENT = `voxmux/${voxmuxVersion()}`
