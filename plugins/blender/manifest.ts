import type { HostedPlugin } from 'voxmux'
import { z } from 'zod'

/** Preferences of the add-on. */
const options = z.strictObject({
  command: z.string().default('voxmux').meta({ description: "Path of voxmux, where it is not in Blender's PATH." }),
  preset: z.string().default('').meta({ description: 'Preset, by name or path; empty for the configured one.' }),
})

export default {
  name: 'blender',
  description: 'Regenerates the voice of the sound strips that are selected in the sequencer of Blender.',
  starts: [{ kind: 'script', what: 'voxmux_blender.py', by: 'Strip > Regenerate Voice' }],
  options,
  optionsIn: 'the preferences of the add-on',
} satisfies HostedPlugin
