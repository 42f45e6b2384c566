import type { HostedPlugin } from 'voxmux'
import { z } from 'zod'

/** What a timeline is asked for, besides the settings of any job. */
const options = z.strictObject({
  'media-root': z.array(z.string()).default([]).meta({ description: 'Folders to search for media, with all below.' }),
  fps: z.string().optional().meta({ description: 'Frame rate of an EDL: 25, 23.976, 30000/1001.' }),
  exclude: z.array(z.string()).default([]).meta({ description: 'Clips or files left as they are, with * and ?.' }),
  trim: z.string().default('0').meta({ description: 'So much more on either side of each clip: room to trim in.' }),
  output: z.string().optional().meta({ description: 'Folder of all that is new, or the new timeline.' }),
})

export default {
  name: 'otio',
  description: 'Regenerates the voice of what a timeline plays, and writes one that plays the new files.',
  starts: [
    { kind: 'command', what: 'voxmux timeline cut.otio', by: 'a person, or the export of an editor' },
    { kind: 'function', what: 'planTimeline, regenerateTimeline (voxmux/plugins/otio)', by: 'a program' },
  ],
  options,
  optionsIn: 'the flags of `voxmux timeline`',
} satisfies HostedPlugin
