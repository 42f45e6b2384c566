import type { MediaInfo, ProgramInfo, StreamInfo } from '../media-info.js'
import { isMovie } from './container-kind.js'
import type { FfprobeAnswer, RawStream } from './ffprobe-schema.js'
import { withFileTags } from './file-tags.js'

/** Codecs that store exact samples, so that their bit depth is meaningful. */
const LOSSLESS = /^(pcm_|flac$|alac$|wavpack$|tta$|mlp$|truehd$|ape$|shorten$|wmalossless$|s302m$)/

/** True if a codec returns exactly the samples that went in. */
export function isLossless(codec: string | null): boolean {
  return codec !== null && LOSSLESS.test(codec)
}

type StatedFacts = 'formatName' | 'startSec' | 'durationSec' | 'bitRate' | 'tags' | 'streams' | 'chapters' | 'programs'

/** Translates ffprobe's output into {@link MediaInfo}. @param encryptedIds numbers of the tracks that need a key */
export function mediaInfoOf(
  answer: FfprobeAnswer,
  file: Omit<MediaInfo, StatedFacts>,
  encryptedIds: ReadonlySet<number>,
): MediaInfo {
  let audioIndex = 0
  const { format } = answer
  const raws = withoutEmptyCore(answer.streams)
  const streams = raws.map((raw) => streamOf(raw, encryptedIds, () => audioIndex++))
  const media: MediaInfo = {
    ...file,
    formatName: format.format_name,
    startSec: format.start_time ?? 0,
    durationSec: length(format.duration),
    bitRate: format.bit_rate,
    ...withFileTags(file.container, { tags: format.tags, streams }),
    ...(answer.programs.length > 0 ? { programs: answer.programs.map(programOf) } : {}),
    chapters: answer.chapters.map((chapter) => ({
      startSec: chapter.start_time ?? 0,
      endSec: chapter.end_time ?? chapter.start_time ?? 0,
      title: tag(chapter.tags, 'title'),
    })),
  }
  return isMovie(media) ? withoutZeroLengths(media) : media
}

/**
 * ffmpeg expects AC-3 beside TrueHD in a transport stream, under the same number. Without packets, it is not there. Before
 * another sound it stays, because ffmpeg counts it.
 */
function withoutEmptyCore(streams: readonly RawStream[]): readonly RawStream[] {
  const last = streams.filter(({ codec_type }) => codec_type === 'audio').at(-1)
  if (last?.codec_name !== 'ac3' || last.channels) return streams
  const isCore = streams.some(({ codec_name, id }) => codec_name === 'truehd' && id === last.id)
  return isCore ? streams.filter((stream) => stream !== last) : streams
}

/** A length that a file states; null for one below zero, which nothing can have. */
function length(sec: number | null): number | null {
  return sec !== null && sec < 0 ? null : sec
}

/** The headers of a movie state a length of zero if the writer did not know it. */
function withoutZeroLengths(media: MediaInfo): MediaInfo {
  const streams = media.streams.map((stream) => ({ ...stream, durationSec: stream.durationSec || null }))
  return { ...media, durationSec: media.durationSec || null, streams }
}

function programOf({ program_id, pmt_pid, tags }: FfprobeAnswer['programs'][number]): ProgramInfo {
  return { id: program_id, pmtPid: pmt_pid, name: tag(tags, 'service_name'), provider: tag(tags, 'service_provider') }
}

function streamOf(raw: RawStream, encryptedIds: ReadonlySet<number>, nextAudioIndex: () => number): StreamInfo {
  const language = tag(raw.tags, 'language')
  const base = {
    index: raw.index,
    codec: raw.codec_name && raw.codec_name !== 'unknown' ? raw.codec_name : null,
    codecTag: readableTag(raw.codec_tag_string),
    id: raw.id,
    profile: raw.profile && raw.profile !== 'unknown' ? raw.profile : null,
    startSec: raw.start_time,
    durationSec: length(raw.duration),
    timeBase: raw.time_base,
    bitRate: raw.bit_rate,
    language: language === 'und' ? null : language,
    title: tag(raw.tags, 'title') ?? handlerTitle(raw),
    tags: raw.tags,
    dispositions: Object.keys(raw.disposition).filter((name) => raw.disposition[name] === 1),
    sideDataValues: Object.fromEntries(raw.side_data_list.map((entry) => [entry.side_data_type, orderedJson(entry)])),
    extradataHash: raw.extradata_hash ?? null,
    // ffmpeg tells the key of a track in Matroska by this tag.
    ...(encryptedIds.has(raw.id ?? 0) || raw.tags.enc_key_id !== undefined ? { isEncrypted: true as const } : {}),
  }
  switch (raw.codec_type) {
    case 'audio':
      return {
        ...base,
        ...audioPart(raw),
        kind: 'audio',
        audioIndex: nextAudioIndex(),
      }
    case 'video':
      return { ...base, ...videoPart(raw), kind: 'video' }
    case 'subtitle':
    case 'data':
    case 'attachment':
      return { ...base, kind: raw.codec_type }
    default:
      return { ...base, kind: 'unknown' }
  }
}

function audioPart(raw: RawStream) {
  const depth = raw.bits_per_raw_sample || raw.bits_per_sample
  const layout = raw.channel_layout
  return {
    sampleRate: raw.sample_rate ?? 0,
    channels: raw.channels ?? 0,
    channelLayout: layout && layout !== 'unknown' && !/^\d+ channels/.test(layout) ? layout : null,
    sampleFormat: raw.sample_fmt?.replace(/p$/, '') ?? null,
    bitsPerSample: isLossless(raw.codec_name ?? null) && depth ? depth : null,
  }
}

function orderedJson(entry: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1))))
}

function videoPart(raw: RawStream) {
  const rate = raw.r_frame_rate ?? raw.avg_frame_rate
  const turn = raw.side_data_list.find((entry) => entry.rotation !== undefined)?.rotation ?? 0
  return {
    width: raw.width ?? 0,
    height: raw.height ?? 0,
    frameRate: rate && !rate.startsWith('0/') && !rate.endsWith('/0') ? rate : null,
    // ffprobe's angle is counter-clockwise.
    rotationDeg: ((-Math.round(turn) % 360) + 360) % 360,
    isCover: raw.disposition.attached_pic === 1,
    sampleAspect: said(raw.sample_aspect_ratio === '1:1' ? undefined : raw.sample_aspect_ratio),
    colour: {
      range: said(raw.color_range),
      space: said(raw.color_space),
      transfer: said(raw.color_transfer),
      primaries: said(raw.color_primaries),
    },
  }
}

/** Maps ffprobe's ways of saying "unknown" to null. */
function said(value: string | undefined): string | null {
  return value === undefined || /^(unknown|unspecified|reserved|0:1|N\/A)$/.test(value) ? null : value
}

/** A tag in any case, because containers differ (`language`, `LANGUAGE`). */
function tag(tags: Readonly<Record<string, string>>, name: string): string | null {
  const key = Object.keys(tags).find((candidate) => candidate.toLowerCase() === name)
  return key === undefined ? null : (tags[key] ?? null)
}

/** QuickTime and MP4 keep a track's name as its handler. The default handlers of writers are not names. */
function handlerTitle(raw: RawStream): string | null {
  const name = tag(raw.tags, 'handler_name')
  return name &&
    !/^(video|sound|subtitle|text|data|time ?code|core media|apple|mainconcept|gpac|iso media|l-smash)/i.test(
      name.trim(),
    ) &&
    !/handler/i.test(name)
    ? name
    : null
}

/** ffprobe prints `[0][0][0][0]` if there is no tag. */
function readableTag(text: string | undefined): string | null {
  return text && text !== '[0][0][0][0]' ? text : null
}
