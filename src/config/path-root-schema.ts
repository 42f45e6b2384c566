import { z } from 'zod'

/** One folder with different paths on the machines of a shared store. */
export const pathRootSchema = z.strictObject({
  store: z
    .string()
    .regex(/^[A-Za-z][\w.-]+:$/, 'must be a name of two letters or more and a colon, for example nas:')
    .meta({ description: 'Its name in the store, the same on every machine, for example `nas:`.' }),
  here: z.string().min(1).meta({ description: 'Its path on this machine, for example `/mnt/nas` or `Z:\\`.' }),
})
