import type { HostedPlugin } from 'voxmux'

export default {
  name: 'mlt',
  description: 'Regenerates the voice of what a Shotcut or Kdenlive project plays.',
  starts: [{ kind: 'command', what: 'voxmux timeline film.mlt', by: 'a person, or a script before melt renders' }],
} satisfies HostedPlugin
