import type { HostedPlugin } from 'voxmux'
import { z } from 'zod'

/** Settings of the script. */
const options = z.strictObject({
  spool: z.string().meta({ description: 'Folder from which `voxmux worker --spool` takes the jobs.' }),
  output: z.string().default('').meta({ description: 'Folder of finished files; empty: beside the recording.' }),
  preset: z.string().default('').meta({ description: 'Preset, by name or path; empty for the configured one.' }),
})

export default {
  name: 'obs',
  description: 'Queues each recording of OBS Studio the moment it is stopped.',
  starts: [{ kind: 'script', what: 'voxmux_obs.py', by: 'the end of a recording' }],
  options,
  optionsIn: 'the settings of the script (Tools > Scripts)',
} satisfies HostedPlugin
