import type { MediaInfo } from '../../../src/media/index.js'

const STREAM = {
  ...{ startSec: 0, bitRate: 128_000, language: null, title: null, tags: {}, dispositions: ['default'] },
  ...{ sideDataValues: {}, extradataHash: null },
}

/** What ffprobe would say of a simulated film: one picture, one stereo track. */
export function mediaInfo(path: string, sizeBytes: number, durationSec: number): MediaInfo {
  return {
    ...{ path, sizeBytes, formatName: 'mov,mp4,m4a,3gp,3g2,mj2', container: 'mp4', startSec: 0, durationSec },
    ...{ bitRate: 355_000, tags: {}, chapters: [] },
    streams: [
      {
        ...{ ...STREAM, kind: 'video', index: 0, codec: 'h264', codecTag: 'avc1', profile: 'High', durationSec },
        ...{ timeBase: '1/12800', width: 640, height: 360, frameRate: '25/1', rotationDeg: 0, sampleAspect: null },
        ...{ colour: { range: null, space: null, transfer: null, primaries: null }, isCover: false },
      },
      {
        ...{ ...STREAM, kind: 'audio', index: 1, codec: 'aac', codecTag: 'mp4a', profile: 'LC', durationSec },
        ...{ timeBase: '1/48000', audioIndex: 0, sampleRate: 48_000, channels: 2, channelLayout: 'stereo' },
        ...{ sampleFormat: 'flt', bitsPerSample: null },
      },
    ],
  }
}
