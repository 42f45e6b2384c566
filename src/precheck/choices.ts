import { z } from 'zod'

/** The audio tracks to regenerate. Numbers count audio tracks from 0, like ffmpeg's `0:a:N`. */
export const trackChoiceSchema = z
  .union([z.enum(['only', 'all', 'default']), z.int().min(0), z.templateLiteral(['lang:', z.string().min(2)])], {
    error: 'must be "only", "all", "default", a number counted from 0, or "lang:" and a language code ("lang:eng")',
  })
  .meta({
    description:
      'Audio track to regenerate: `only` (refuses a file with several), `all`, `default`, a number counted from 0, or `lang:eng`.',
  })
export type TrackChoice = z.infer<typeof trackChoiceSchema>

/** The channels of a track that are sent. */
export const channelsChoiceSchema = z.enum(['auto', 'center', 'each', 'downmix']).meta({
  description:
    'Channels to send: `auto` (all, refuses more than two), `center` (only the dialogue channel), `each` (every channel as a separate file), `downmix` (a stereo downmix).',
})
export type ChannelsChoice = z.infer<typeof channelsChoiceSchema>
