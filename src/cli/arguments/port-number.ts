import { UsageError } from '../../core/errors.js'

/** Reads a `--port` value. @throws UsageError `ERR_USAGE` */
export function portNumber(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new UsageError('ERR_USAGE', `--port takes a number from 0 to 65535, not ${text}.`, {
    remedies: ['Use --port 0 to take any free port.'],
  })
}
