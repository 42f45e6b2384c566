import { UsageError } from '../core/errors.js'

/** npm's optional packages with native code, one for each system. */
const MISSING = /Cannot find module '(@libsql\/[\w-]+)'/
const UNLOADABLE = /node_modules[\\/]((?:@[\w-]+[\\/])?[\w.-]+)/

/** The fault of a package without native code, or with that of another system. Any other fault stays. */
export function nativeFault(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown
  const { code, message } = thrown as NodeJS.ErrnoException
  const missing = code === 'MODULE_NOT_FOUND' ? MISSING.exec(message)?.[1] : undefined
  const unloadable = code === 'ERR_DLOPEN_FAILED' ? UNLOADABLE.exec(message)?.[1] : undefined
  const name = missing ?? unloadable
  if (name === undefined) return thrown
  const what = missing === undefined ? 'does not fit this system' : 'is not installed'
  const system = `${process.platform} ${process.arch}, Node ${process.versions.node}`
  return new UsageError(
    'ERR_NATIVE_PACKAGE',
    `The package ${name} with the native code of voxmux ${what} (${system}).`,
    {
      cause: thrown,
      remedies: [
        'Install voxmux again on this machine, with optional packages: npm install --global --include=optional voxmux',
        'Do not copy node_modules from another system.',
      ],
    },
  )
}
