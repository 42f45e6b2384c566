import type { HostedPlugin } from 'voxmux'
import { z } from 'zod'

/** Variables of the environment that Resolve is started with. */
const options = z.strictObject({
  VOXMUX_COMMAND: z
    .string()
    .default('voxmux')
    .meta({ description: "Path of voxmux, where it is not in Resolve's PATH." }),
  VOXMUX_PRESET: z.string().default('').meta({ description: 'Preset, by name or path; empty for the configured one.' }),
})

export default {
  name: 'resolve',
  description: 'Regenerates the voice of the clips that are selected in the media pool of DaVinci Resolve.',
  starts: [{ kind: 'script', what: 'voxmux_resolve.py', by: 'Workspace > Scripts' }],
  options,
  optionsIn: 'the environment of Resolve',
} satisfies HostedPlugin
