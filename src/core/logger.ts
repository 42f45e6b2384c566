/** What every part logs to: pino's shape, so that a pino instance fits as it is. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

const nothing = () => {}

/** Says nothing: the default of every library entry point. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }
