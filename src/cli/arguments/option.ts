/**
 * Options as yargs takes them, by the kind of their value. A flag without its value is an error, so that it does not take
 * the next word. `group` is a heading of the help.
 */
export const text = (describe: string, group?: string) =>
  ({ type: 'string', requiresArg: true, describe, group }) as const

/** A flag that takes a number. */
export const number = (describe: string, group?: string) =>
  ({ type: 'number', requiresArg: true, describe, group }) as const

/** A flag without a value. */
export const toggle = (describe: string, group?: string) => ({ type: 'boolean', describe, group }) as const

/** A flag that takes one of some values. */
export const oneOf = <const Choices extends readonly string[]>(choices: Choices, describe: string, group?: string) =>
  ({ choices, requiresArg: true, describe, group }) as const

/** A flag that may be given several times. */
export const list = (describe: string, group?: string) =>
  ({ type: 'array', string: true, requiresArg: true, describe, group }) as const

/** A flag that takes one of some values, and may be given several times. */
export const someOf = <const Choices extends readonly string[]>(choices: Choices, describe: string, group?: string) =>
  ({ choices, array: true, requiresArg: true, describe, group }) as const
