import { type HostedPlugin, jobRequestSchema } from 'voxmux'

export default {
  name: 'script-step',
  description: 'One step of a script: a file in, a finished file and its receipt out.',
  starts: [
    { kind: 'function', what: 'scriptStep (voxmux/step)', by: 'a program in Node' },
    { kind: 'command', what: 'voxmux step job.json', by: 'a script in any language' },
  ],
  options: jobRequestSchema,
  optionsIn: 'the job',
} satisfies HostedPlugin
