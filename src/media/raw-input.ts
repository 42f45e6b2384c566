import { defaultChannelLayout, type PcmFormat, rawFormatName } from './pcm.js'

/** The options with which ffmpeg reads raw PCM. */
export function rawInputOptions({ sample, sampleRate, channels }: PcmFormat): readonly string[] {
  return [
    // Read ahead, so that the encoder never waits for whoever feeds it: its default holds a third of a second.
    ...['-thread_queue_size', '1024'],
    ...['-f', rawFormatName(sample), '-ar', String(sampleRate), '-ac', String(channels)],
  ]
}

/** Names the channels, moving none: raw PCM says only how many there are. */
export function layoutFilters({ channels, channelLayout }: PcmFormat): readonly string[] {
  if (channelLayout === defaultChannelLayout(channels) || /^\d+ channels/.test(channelLayout)) return []
  const same = Array.from({ length: channels }, (_, channel) => `${channel}`).join('|')
  return [`channelmap=map=${same}:channel_layout=${channelLayout}`]
}
