import { type HostedPlugin, watchSchema } from 'voxmux'

export default {
  name: 'watch-folder',
  description: 'Regenerates the voice of every file that is dropped into a folder, once.',
  starts: [{ kind: 'command', what: 'voxmux watch', by: 'a person, systemd or a container' }],
  options: watchSchema,
  optionsIn: '`watch` of the configuration',
} satisfies HostedPlugin
