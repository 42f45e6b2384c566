import type { HostedPlugin } from 'voxmux'
import { z } from 'zod'

/** Arguments of the hook, in this order. */
const options = z.strictObject({
  spool: z.string().min(1).meta({ description: 'Folder from which `voxmux worker --spool` takes the jobs.' }),
  input: z.string().min(1).meta({ description: 'The recording: `$path` of nginx.' }),
  output: z.string().default('').meta({
    description: 'File, or folder where it ends in a slash; empty: beside the recording.',
  }),
  preset: z.string().default('').meta({ description: 'Preset, by name or path; empty for the configured one.' }),
})

export default {
  name: 'nginx-rtmp',
  description: 'Queues each recording of nginx-rtmp when it is whole.',
  starts: [{ kind: 'hook', what: 'shell/spool-job.sh', by: 'exec_record_done' }],
  options,
  optionsIn: 'the arguments of the hook',
} satisfies HostedPlugin
