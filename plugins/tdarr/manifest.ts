import type { HostedPlugin } from 'voxmux'
import { z } from 'zod'

/** Inputs of the flow plugin, as Tdarr shows them. */
const options = z.strictObject({
  command: z
    .string()
    .default('voxmux')
    .meta({ description: 'Path of voxmux on the node; a plain name is looked for in PATH.' }),
  preset: z.string().default('').meta({ description: 'Preset, by name or path; empty for the configured one.' }),
  track: z.string().default('').meta({
    description: 'Audio track: all, default, a number from 0, or lang:xxx; empty where there is only one.',
  }),
})

export default {
  name: 'tdarr',
  description: 'Regenerates the voice of the file that goes through a flow of Tdarr.',
  starts: [{ kind: 'script', what: 'flow-plugin.cjs', by: 'a flow: details() and plugin(args)' }],
  options,
  optionsIn: 'the inputs of the flow plugin',
} satisfies HostedPlugin
