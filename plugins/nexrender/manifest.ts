import { type HostedPlugin, jobRequestSchema } from 'voxmux'

export default {
  name: 'nexrender',
  description: 'Regenerates the voice of what nexrender rendered, before it is copied or uploaded.',
  starts: [{ kind: 'script', what: 'action.cjs (voxmux/plugins/nexrender)', by: 'actions.postrender' }],
  options: jobRequestSchema.partial({ input: true }),
  optionsIn: 'the action, besides `module`',
} satisfies HostedPlugin
