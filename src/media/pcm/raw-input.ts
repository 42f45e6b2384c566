import { defaultChannelLayout, type PcmFormat, pcmCodecName, rawFormatName, type SampleType } from './pcm.js'

/** The input options for raw PCM. */
export function rawInputOptions({ sample, sampleRate, channels }: PcmFormat): readonly string[] {
  return [
    // Reads ahead, so that the encoder never waits for its source. The default holds a third of a second.
    ...['-thread_queue_size', '1024'],
    ...['-f', rawFormatName(sample), '-ar', String(sampleRate), '-ac', String(channels)],
  ]
}

/** The output options for raw PCM of a type. */
export function rawOutputOptions(sample: SampleType): readonly string[] {
  return ['-c:a', pcmCodecName(sample), '-f', rawFormatName(sample)]
}

/** Names the channels without moving any, because raw PCM has only their number. */
export function layoutFilters({
  channels,
  channelLayout,
}: Pick<PcmFormat, 'channels' | 'channelLayout'>): readonly string[] {
  if (channelLayout === defaultChannelLayout(channels) || /^\d+ channels/.test(channelLayout)) return []
  const same = Array.from({ length: channels }, (_, channel) => `${channel}`).join('|')
  return [`channelmap=map=${same}:channel_layout=${channelLayout}`]
}
