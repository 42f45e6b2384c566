import { z } from 'zod'

/** Which audio tracks are regenerated; numbers count audio tracks from 0, as ffmpeg's `0:a:N`. */
export const trackChoiceSchema = z
  .union([z.enum(['only', 'all', 'default']), z.int().min(0), z.templateLiteral(['lang:', z.string().min(2)])], {
    error: 'must be "only", "all", "default", a number counted from 0, or "lang:" and a language code ("lang:eng")',
  })
  .meta({
    description:
      'Which audio track is regenerated: `only` (refuses a file with several), `all`, `default`, a number counted from 0, or `lang:eng`.',
  })
export type TrackChoice = z.infer<typeof trackChoiceSchema>

/** What is sent of a track with several channels. */
export const channelsChoiceSchema = z.enum(['auto', 'center', 'each', 'downmix']).meta({
  description:
    'What is sent of a track: `auto` (all channels, refuses more than two), `center` (the dialogue channel alone, the others untouched), `each` (every channel as a file of its own), `downmix` (a stereo fold).',
})
export type ChannelsChoice = z.infer<typeof channelsChoiceSchema>
