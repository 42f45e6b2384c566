/** The logger of every part. It has pino's shape, so that a pino instance fits. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

const nothing = () => {}

/** Discards everything. The default of every library entry point. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }
