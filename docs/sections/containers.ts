import type { MediaInfo, StreamInfo } from '../../src/media/media-info.js'
import { containerProfile } from '../../src/media/write/container-profile.js'
import { planMux } from '../../src/media/write/remux/mux-plan.js'
import { ZOO } from '../../test/media/zoo/zoo-rows.js'

/**
 * Table of the containers. A test proves what each keeps (the zoo, checked with ffprobe and streamhash). The losses and
 * their reasons are those in the plan of a film with one stream of every kind.
 */
export function containerTable(): string {
  const rows = [...new Set(ZOO.map(({ container }) => container))].map((container) => {
    const kept = new Set(ZOO.filter((row) => row.container === container).flatMap(({ keeps }) => keeps))
    const isExact = ZOO.some((row) => row.container === container && row.offsetSamples === 0)
    const sound = isExact ? 'the new sound to the sample' : 'the new sound to within 1 ms'
    return `| \`.${container}\` | ${`${sound}<br>${[...kept].join(', ')}`} | ${losses(container)} |`
  })
  return ['| container | kept | lost, and why |', '| --- | --- | --- |', ...rows].join('\n')
}

function losses(container: string): string {
  const { losses } = planMux(filmFor(container), { replaced: [0], container })
  const named = losses.map(({ what, reason }) => `${what.replace(/ stream \d+/, '')}: ${reason}`)
  return named.length === 0 ? 'nothing that was tried' : [...new Set(named)].join('<br>')
}

/** A plan refuses to lose the picture, so the film has one that the container carries. */
function filmFor(container: string): MediaInfo {
  const known = containerProfile(container)?.videoCodecs ?? ['h264']
  if (known.includes('h264')) return EVERYTHING
  const [picture, ...rest] = EVERYTHING.streams
  return { ...EVERYTHING, streams: [{ ...(picture as StreamInfo), codec: known[0] ?? 'h264' }, ...rest] }
}

function stream(index: number, codec: string, facts: object): StreamInfo {
  const base = {
    ...{ index, codec, codecTag: null, profile: null, startSec: 0, durationSec: 1, timeBase: '1/1000', bitRate: null },
    ...{ language: null, title: null, tags: {}, dispositions: [], sideDataValues: {} },
    extradataHash: null,
  }
  return { ...base, ...facts } as unknown as StreamInfo
}

const SOUND = { kind: 'audio', sampleRate: 48_000, channels: 2, channelLayout: 'stereo', sampleFormat: 'fltp' }
const NAMED = { language: 'swe', title: 'Kommentar', dispositions: ['comment', 'original'] }
const FILM = {
  ...{ kind: 'video', width: 64, height: 48, frameRate: '25/1', rotationDeg: 90, isCover: false, sampleAspect: null },
  colour: { range: null, space: null, transfer: null, primaries: null },
}

/** A film with one of each. */
const EVERYTHING: MediaInfo = {
  ...{ path: '/film.mkv', sizeBytes: 1, formatName: 'matroska', container: 'everything', startSec: 0, durationSec: 1 },
  bitRate: null,
  tags: { title: 'Film' },
  streams: [
    stream(0, 'h264', FILM),
    stream(1, 'aac', { ...SOUND, audioIndex: 0, bitsPerSample: null }),
    stream(2, 'aac', { ...SOUND, audioIndex: 1, bitsPerSample: null, ...NAMED }),
    stream(3, 'subrip', { kind: 'subtitle' }),
    stream(4, 'hdmv_pgs_subtitle', { kind: 'subtitle' }),
    stream(5, 'bin_data', { kind: 'data', codecTag: 'tmcd' }),
    stream(6, 'ttf', { kind: 'attachment' }),
    stream(7, 'png', { ...FILM, rotationDeg: 0, isCover: true }),
  ],
  chapters: [{ startSec: 0, endSec: 1, title: 'One' }],
}
