import { z } from 'zod'

/** One folder that the machines of a shared store have in different places. */
export const pathRootSchema = z.strictObject({
  store: z
    .string()
    .regex(/^[A-Za-z][\w.-]+:$/, 'must be a name of two letters or more and a colon, for example nas:')
    .meta({ description: 'Its name in the store, the same on every machine: `nas:`.' }),
  here: z.string().min(1).meta({ description: 'Where this machine has it: `/mnt/nas`, `Z:\\`.' }),
})
