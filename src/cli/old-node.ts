import { UsageError } from '../core/errors.js'

/** `engines` of package.json. */
const OLDEST_NODE = [20, 19] as const

/** The fault of a Node that is too old; undefined for any other. @param version as `process.versions.node` has it */
export function oldNode(version: string): UsageError | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return undefined
  return new UsageError('ERR_NODE_TOO_OLD', `Node ${version} is too old for voxmux.`, {
    remedies: [`Install Node ${OLDEST_NODE.join('.')} or newer.`],
  })
}
