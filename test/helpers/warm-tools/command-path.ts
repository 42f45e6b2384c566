import { delimiter } from 'node:path'

/** Where a command of a test finds ffmpeg and all else that it starts, whatever the environment of the tests. */
export const COMMAND_PATH = [process.env.WARM_TOOLS ?? [], '/usr/bin', '/bin'].flat().join(delimiter)
