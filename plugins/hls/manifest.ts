import { type HostedPlugin, jobRequestSchema } from 'voxmux'

export default {
  name: 'hls',
  description: 'Regenerates the voice of an HLS package for video on demand in the segments that are there.',
  starts: [{ kind: 'function', what: 'regenerateHls (voxmux/plugins/hls)', by: 'a program, after the packager' }],
  options: jobRequestSchema.omit({ input: true, output: true, outputType: true, keepOriginal: true }),
  optionsIn: '`job` of the options',
} satisfies HostedPlugin
