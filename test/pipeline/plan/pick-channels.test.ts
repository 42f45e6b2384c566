import { expect, it } from 'vitest'
import type { AudioStreamInfo, MediaInfo } from '../../../src/media/media-info.js'
import { pickChannels } from '../../../src/pipeline/plan/pick-channels.js'

it.each([
  [0, [{ kind: 'all' }]],
  [1, [{ kind: 'all' }]],
  [
    2,
    [
      { kind: 'one', channel: 0 },
      { kind: 'one', channel: 1 },
    ],
  ],
] as const)('sends each of %i channels, and never nothing, so that the pre-check sees the track', (channels, picks) => {
  expect(pickChannels({} as MediaInfo, { channels } as AudioStreamInfo, 'each')).toEqual(picks)
})

it('refuses to mix down a sound field, and does not recommend it', () => {
  const media = { path: 'field.opus' } as MediaInfo
  const field = { audioIndex: 0, channels: 4, channelLayout: 'ambisonic 1' } as AudioStreamInfo
  expect(() => pickChannels(media, field, 'downmix')).toThrow(/sound field/)
  const center = () => pickChannels(media, field, 'center')
  expect(center).toThrow(expect.objectContaining({ code: 'ERR_NO_CENTER', remedies: ['Use --channels each.'] }))
})
