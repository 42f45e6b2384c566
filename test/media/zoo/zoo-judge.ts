import { readFile } from 'node:fs/promises'
import { ffmpegOutput, ffprobeJson } from '../../helpers/media-factory.js'
import type { Feature } from './zoo-rows.js'

/** What plain ffprobe says of a feature; equal before and after where it was kept. */
export async function factOf(feature: Feature, path: string): Promise<unknown> {
  const { streams, format, chapters, packets: all } = await tables(path)
  const films = streams.filter((stream) => stream.codec_type === 'video' && stream.disposition.attached_pic !== 1)
  const covers = streams.filter((stream) => stream.disposition.attached_pic === 1)
  const newSound = streams.find((stream) => stream.codec_type === 'audio')
  const ofKind = (kind: string) => streams.filter(({ codec_type }) => codec_type === kind)
  const each = <T>(read: (stream: Stream) => T) => films.map(read)
  switch (feature) {
    case 'picture':
      return Promise.all(films.map((stream) => packets(path, [stream])))
    case 'picture times':
      return films.map((stream) => times(all, stream))
    case 'other sound':
      return packets(path, ofKind('audio').slice(1, 2))
    case 'subtitles':
      return [
        await packets(path, ofKind('subtitle')),
        streams.map(({ codec_type, codec_name }) => codec_type === 'subtitle' && codec_name),
      ]
    case 'cover':
      return Promise.all(covers.map((stream) => packets(path, [stream])))
    case 'attachments':
      return streams.flatMap((stream) =>
        stream.codec_type === 'attachment'
          ? [[stream.extradata_hash, stream.tags?.filename, stream.tags?.mimetype]]
          : [],
      )
    case 'timecode':
      return streams.flatMap(({ tags }) => tags?.timecode ?? []).concat(format.tags?.timecode ?? [])
    case 'telemetry':
      return ofKind('data')
        .slice(0, 1)
        .map((stream) => [hashes(all, stream), times(all, stream)])
    case 'order':
      return tracks(streams).map(({ codec_name }) => codec_name)
    case 'chapters':
      return chapters.map(({ start_time, tags }) => [Number(start_time).toFixed(2), tags?.title])
    case 'tags':
      return ['title', 'artist', 'comment'].map((name) => ownTag(format.tags, name) ?? ownTag(streams[0]?.tags, name))
    case 'languages':
      return tracks(streams).map(({ tags }) => tags?.language?.replace('deu', 'ger').replace('fra', 'fre'))
    case 'titles':
      return tracks(streams).map(({ tags }) => tags?.title ?? tags?.handler_name)
    case 'stream tags':
      return tracks(streams).map(({ tags }) => [tags?.SOURCE, tags?.NOTE])
    case 'dispositions':
      return tracks(streams).map(({ disposition }) => disposition)
    case 'rotation':
      return each((stream) => stream.side_data_list?.map(({ displaymatrix }) => displaymatrix))
    case 'colour':
      return each((stream) => [stream.color_range, stream.color_space, stream.color_transfer, stream.color_primaries])
    case 'HDR':
      return each((stream) => stream.side_data_list)
    case 'pixel shape':
      return each((stream) => stream.sample_aspect_ratio)
    case 'start time':
      // Of the new sound it says when an encoder's priming begins: that one is heard instead.
      return tracks(streams).map((stream) => stream !== newSound && Math.abs(Number(stream.start_time)).toFixed(2))
    case 'faststart':
      return (await readFile(path)).indexOf('moov') < (await readFile(path)).indexOf('mdat')
    case 'bext':
      return BEXT.map((name) => format.tags?.[name])
    case 'production chunks':
      return productionChunks(await readFile(path))
    default:
      return feature satisfies never
  }
}

const BEXT = [
  ...['description', 'originator', 'originator_reference', 'origination_date', 'time_reference', 'umid'],
  'coding_history',
]

/** Of a RIFF file, byte for byte. */
function productionChunks(wave: Buffer): readonly (readonly [string, string])[] {
  const found: [string, string][] = []
  for (let at = 12; at + 8 <= wave.length; ) {
    const [id, size] = [wave.toString('latin1', at, at + 4), wave.readUInt32LE(at + 4)]
    const body = wave.toString('latin1', at + 8, at + 8 + size)
    if (['iXML', 'cue '].includes(id) || body.startsWith('adtl')) found.push([id, body])
    at += 8 + size + (size & 1)
  }
  return found
}

interface Stream {
  readonly index: number
  readonly codec_type: string
  readonly codec_name?: string
  readonly extradata_hash?: string
  readonly start_time?: string
  readonly sample_aspect_ratio?: string
  readonly [colour: `color_${string}`]: string
  readonly disposition: Readonly<Record<string, number>>
  readonly tags?: Readonly<Record<string, string>>
  readonly side_data_list?: readonly { readonly displaymatrix?: string }[]
}

interface Tables {
  readonly streams: readonly Stream[]
  readonly format: { readonly tags?: Readonly<Record<string, string>> }
  readonly chapters: readonly { readonly start_time: string; readonly tags?: Readonly<Record<string, string>> }[]
  readonly packets: readonly Packet[]
}

interface Packet {
  readonly stream_index: number
  readonly pts_time?: string
  readonly data_hash?: string
}

const read = new Map<string, Promise<Tables>>()

/** Each file is looked at once. */
function tables(path: string): Promise<Tables> {
  const show = ['-show_streams', '-show_format', '-show_chapters', '-show_packets', '-show_data_hash', 'md5']
  const known = read.get(path) ?? (ffprobeJson(path, ...show) as Promise<unknown> as Promise<Tables>)
  read.set(path, known)
  return known
}

/** Films, sounds and subtitles: what is left of the order when covers and data are put where a muxer wants them. */
function tracks(streams: readonly Stream[]): readonly Stream[] {
  const kinds = ['video', 'audio', 'subtitle']
  return streams.filter((stream) => kinds.includes(stream.codec_type) && stream.disposition.attached_pic !== 1)
}

async function packets(path: string, streams: readonly Stream[]): Promise<unknown> {
  // Transport streams and program streams wrap the same pictures anew; what is decoded must be the same.
  const isWrapped = streams.some(({ codec_type }) => codec_type !== 'subtitle') && /\.(ts|m2ts|mpg)$/.test(path)
  const { packets: all } = await tables(path)
  if (!isWrapped) return streams.map((stream) => hashes(all, stream))
  const maps = streams.flatMap(({ index }) => ['-map', `0:${index}`])
  return String(await ffmpegOutput('-i', path, ...maps, '-f', 'streamhash', '-hash', 'md5', 'pipe:1'))
}

/** Of each packet of a stream. */
function hashes(all: readonly Packet[], { index }: Stream): readonly (string | undefined)[] {
  return all.filter((packet) => packet.stream_index === index).map(({ data_hash }) => data_hash)
}

/** In ms from the first: a tick of the coarsest container of the zoo. */
function times(all: readonly Packet[], { index }: Stream): readonly number[] {
  const known = all.filter((packet) => packet.stream_index === index).map(({ pts_time }) => Number(pts_time))
  return known.map((sec) => Math.round((sec - (known[0] ?? 0)) * 1000))
}

function ownTag(tags: Readonly<Record<string, string>> | undefined, name: string): string | undefined {
  return Object.entries(tags ?? {}).find(([key]) => key.toLowerCase() === name)?.[1]
}
