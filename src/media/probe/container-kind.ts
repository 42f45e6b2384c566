import { extname } from 'node:path'
import type { FfprobeAnswer } from './ffprobe-schema.js'

/** Clues that tell apart containers with the same ffprobe name. */
interface ContainerClues {
  readonly path: string
  /** First bytes of the file (4 KB are enough). */
  readonly head: Buffer
  readonly answer: FfprobeAnswer
}

/** Begins a frame of AC-3, with the high byte first. */
const AC3_SYNC = 0x0b77

/** Demuxers with the name of their container. */
const ALIKE: ReadonlySet<string> = new Set(
  'mxf avi flv wav w64 aiff flac ac3 eac3 aac caf dts dv gxf au amr wv tta truehd ape dsf loas mpc tak voc'.split(' '),
)

/** Other demuxers (the first of ffprobe's names) to containers. */
const KINDS: Readonly<Record<string, (clues: ContainerClues) => string | undefined>> = {
  mov: movKind,
  matroska: ({ head }) => (head.includes('webm') ? 'webm' : 'mkv'),
  mxf_opatom: () => 'mxf',
  mpegts: ({ head }) => (isTimecodedTs(head) ? 'm2ts' : 'ts'),
  mpeg: () => 'mpg',
  asf: ({ answer }) => (hasFilm(answer) ? 'wmv' : 'wma'),
  mp3: ({ answer }) => (answer.streams.some((stream) => stream.codec_name === 'mp2') ? 'mp2' : 'mp3'),
  ogg: oggKind,
  mpc8: () => 'mpc',
  // Matroska does not take every picture of RealMedia.
  rm: ({ answer }) => (hasFilm(answer) ? undefined : 'rm'),
}

/** The container by its usual extension, from brand and content, not from the name. Undefined if unknown. */
export function containerKind(clues: ContainerClues): string | undefined {
  // ffmpeg reads some of them as raw samples.
  if (clues.head.toString('latin1', 0, 4) === 'RIFX') return 'wav'
  const demuxer = clues.answer.format.format_name.split(',')[0] ?? ''
  // ffmpeg decodes such frames, but reads their channels and sizes out of the wrong bytes.
  if (demuxer.endsWith('ac3') && clues.head.readUInt16LE(0) === AC3_SYNC) return undefined
  return ALIKE.has(demuxer) ? demuxer : KINDS[demuxer]?.(clues)
}

/** True for Matroska and WebM, which count their times alike. */
export function isMatroska({ container }: { readonly container: string }): boolean {
  return container === 'mkv' || container === 'webm'
}

/** True for ISO base media and QuickTime. */
export function isMovie({ formatName }: { readonly formatName: string }): boolean {
  return formatName.startsWith('mov')
}

/** ISO base media by brand. An audio-only mp4 is an m4a only if its brand or name says so. */
function movKind({ path, answer }: ContainerClues): string {
  const brand = (answer.format.tags.major_brand ?? 'qt  ').trim().toLowerCase()
  const extension = extname(path).slice(1).toLowerCase()
  if (brand === 'qt') return 'mov'
  if (brand.startsWith('3gp') || brand.startsWith('3gr') || brand.startsWith('3gs')) return '3gp'
  if (brand.startsWith('3g2')) return '3g2'
  if (brand === 'm4a' || brand === 'm4b') return hasFilm(answer) ? 'mp4' : 'm4a'
  if (brand.startsWith('m4v')) return 'm4v'
  if (extension === 'm4a' && !hasFilm(answer)) return 'm4a'
  return extension === 'm4v' ? 'm4v' : 'mp4'
}

function oggKind({ answer }: ContainerClues): string {
  const codecs = answer.streams.map((stream) => stream.codec_name)
  return codecs.length === 1 && codecs[0] === 'opus' ? 'opus' : 'ogg'
}

/** Blu-ray and camera TS: 192-byte packets with a four-byte timecode before each sync byte. */
function isTimecodedTs(head: Buffer): boolean {
  return head[0] !== 0x47 && head[4] === 0x47 && head[196] === 0x47
}

function hasFilm({ streams }: FfprobeAnswer): boolean {
  return streams.some((stream) => stream.codec_type === 'video' && stream.disposition.attached_pic !== 1)
}
