import type { HostedPlugin } from 'voxmux'
import { z } from 'zod'

/** Arguments of the hooks, in this order. */
const options = z.strictObject({
  spool: z.string().min(1).meta({ description: 'Folder from which `voxmux worker --spool` takes the jobs.' }),
  output: z.string().default('').meta({
    description: 'File, or folder where it ends in a slash; empty: beside the recording.',
  }),
  preset: z.string().default('').meta({ description: 'Preset, by name or path; empty for the configured one.' }),
})

export default {
  name: 'mediamtx',
  description: 'Queues each recorded segment of MediaMTX when it is whole, and after a crash those that were left.',
  starts: [
    { kind: 'hook', what: 'segment-created.sh', by: 'runOnRecordSegmentCreate' },
    { kind: 'hook', what: 'segment-complete.sh', by: 'runOnRecordSegmentComplete' },
    { kind: 'hook', what: 'sweep-segments.sh', by: 'runOnInit (it takes the spool folder alone)' },
  ],
  options,
  optionsIn: 'the arguments of the hooks',
} satisfies HostedPlugin
