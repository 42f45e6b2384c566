/** A container as a target: its muxer and everything that the muxer can carry. */
export interface ContainerProfile {
  /** ffmpeg's `-f`. */
  readonly muxer: string
  /** Further muxer options for every file. */
  readonly options: readonly string[]
  /** Audio codecs it can carry; `pcm_*` stands for all PCM kinds. The first one is the default. */
  readonly audioCodecs: readonly string[]
  /** Video codecs; null if any is accepted. */
  readonly videoCodecs: readonly string[] | null
  readonly subtitleCodecs: readonly string[]
  readonly data: 'none' | 'quicktime' | 'mp4' | 'transport'
  readonly attachments: boolean
  /** `attached`: as an attached file. ffmpeg does not turn a copied stream into one. */
  readonly covers: 'none' | 'stream' | 'attached'
  readonly chapters: boolean
  /** True for a container that holds only one audio stream. */
  readonly soundOnly: boolean
  /**
   * `signalled`: the muxer states how much of a lossy encoder's priming players skip. `unsignalled`: voxmux trims the
   * voice instead. `measured`: signalled for Opus. For other codecs, only newer versions of ffmpeg do it.
   */
  readonly priming: 'signalled' | 'measured' | 'unsignalled'
}

/** Names of codecs, separated by blanks. */
const codecs = (...lines: readonly string[]): readonly string[] => lines.flatMap((line) => line.split(' '))

const FILM: ContainerProfile = {
  muxer: '',
  options: [],
  audioCodecs: [],
  videoCodecs: null,
  subtitleCodecs: [],
  data: 'none',
  attachments: false,
  covers: 'none',
  chapters: false,
  soundOnly: false,
  priming: 'unsignalled',
}
const SOUND: ContainerProfile = { ...FILM, soundOnly: true, videoCodecs: [] }

/** Without MPEG layer 2: ffmpeg reads it as layer 3, and its end lies elsewhere. */
const MP4_AUDIO = ['aac', 'mp3', 'ac3', 'eac3', 'opus', 'flac', 'alac', 'dts', 'vorbis', 'truehd', 'mp4als']
const MP4_VIDEO = codecs('h264 hevc vvc av1 vp9 mpeg4 mpeg2video mpeg1video mjpeg png jpeg2000 vc1 dirac')
/** The QuickTime muxer has a tag of these, and none of AV1 and VP9. */
const MOV_VIDEO = codecs(
  'h264 hevc mpeg4 mpeg2video mpeg1video mjpeg png jpeg2000 vc1 dirac prores dnxhd dvvideo rawvideo',
  'v210 v308 v408 v410 qtrle svq1 svq3 cinepak ffv1 huffyuv utvideo magicyuv cfhd hap h261 h263 theora',
  'flv1 msmpeg4v3 wmv2 gif',
)
/** In AVI, H.264 has no times, and HEVC is not found again. */
const AVI_VIDEO = codecs(
  'mpeg4 msmpeg4v1 msmpeg4v2 msmpeg4v3 mpeg1video mpeg2video mjpeg dvvideo rawvideo ffv1 huffyuv',
  'utvideo magicyuv cinepak h263 flv1 wmv1 wmv2 theora vp8 vp9 av1',
)
const MP4_SUBTITLES = ['mov_text', 'dvd_subtitle']
const MP4: ContainerProfile = {
  ...FILM,
  muxer: 'mp4',
  audioCodecs: MP4_AUDIO,
  videoCodecs: MP4_VIDEO,
  subtitleCodecs: MP4_SUBTITLES,
  data: 'mp4',
  covers: 'stream',
  chapters: true,
  priming: 'signalled',
}
const PHONE: ContainerProfile = {
  ...MP4,
  audioCodecs: ['aac'],
  videoCodecs: ['h264', 'h263', 'mpeg4'],
  subtitleCodecs: ['mov_text'],
  covers: 'none',
}
const LITTLE_PCM = ['pcm_s16le', 'pcm_s24le', 'pcm_s32le', 'pcm_f32le', 'pcm_f64le']
const BIG_PCM = ['pcm_s16be', 'pcm_s24be', 'pcm_s32be', 'pcm_f32be', 'pcm_f64be', 'pcm_s8', 'pcm_alaw', 'pcm_mulaw']
const WAVE_PCM = [...LITTLE_PCM, 'pcm_s64le', 'pcm_u8', 'pcm_alaw', 'pcm_mulaw']
const MKV: ContainerProfile = {
  ...FILM,
  muxer: 'matroska',
  // Matroska stores no decoding times: negative ones of B-frames must not move the whole file.
  options: ['-avoid_negative_ts', 'disabled'],
  audioCodecs: codecs(
    'flac aac mp3 mp2 ac3 eac3 opus vorbis alac dts truehd tta wavpack pcm_s16le pcm_s24le pcm_s32le',
    'pcm_f32le pcm_f64le pcm_u8 pcm_s16be pcm_s24be pcm_s32be wmav1 wmav2 pcm_alaw pcm_mulaw',
  ),
  subtitleCodecs: codecs('subrip ass ssa webvtt text hdmv_pgs_subtitle dvd_subtitle dvb_subtitle hdmv_text_subtitle'),
  attachments: true,
  covers: 'attached',
  chapters: true,
  priming: 'measured',
}
const TS: ContainerProfile = {
  ...FILM,
  muxer: 'mpegts',
  // The muxer's default delays (0.7 s, 1.4 s) would move everything.
  options: ['-muxpreload', '0', '-muxdelay', '0'],
  audioCodecs: ['aac', 'mp2', 'mp3', 'ac3', 'eac3', 'opus', 'dts', 'truehd', 's302m', 'aac_latm'],
  // A transport stream has no place for the headers of MPEG-4 part 2, which lie beside its packets.
  videoCodecs: ['mpeg1video', 'mpeg2video', 'h264', 'hevc', 'vvc', 'vc1', 'dirac', 'jpeg2000', 'cavs'],
  subtitleCodecs: ['dvb_subtitle', 'dvb_teletext'],
  data: 'transport',
}
const ASF: ContainerProfile = {
  ...FILM,
  muxer: 'asf',
  audioCodecs: ['wmav2', 'wmav1', 'mp3', 'mp2', 'aac', 'ac3', 'pcm_s16le'],
  videoCodecs: ['wmv1', 'wmv2', 'wmv3', 'vc1', 'msmpeg4v2', 'msmpeg4v3', 'mpeg4', 'h264', 'mpeg2video', 'mjpeg'],
  chapters: true,
}
const OGG: ContainerProfile = {
  ...FILM,
  muxer: 'ogg',
  // ffmpeg's Speex is late by its priming, which only a writer of its own can leave out.
  audioCodecs: ['vorbis', 'opus', 'flac'],
  videoCodecs: ['theora', 'vp8'],
  chapters: true,
  priming: 'signalled',
}

/** By {@link MediaInfo.container}. Other containers can be read but not written. */
const PROFILES: Readonly<Record<string, ContainerProfile>> = {
  mp4: MP4,
  // The ipod muxer is the mp4 one with Apple's brands.
  m4v: { ...MP4, muxer: 'ipod', audioCodecs: ['aac', 'ac3', 'alac'], videoCodecs: ['h264', 'mpeg4'] },
  m4a: { ...MP4, muxer: 'ipod', audioCodecs: ['aac', 'alac', 'ac3'], videoCodecs: [] },
  mov: {
    ...MP4,
    muxer: 'mov',
    audioCodecs: ['aac', 'mp3', 'mp2', 'ac3', 'eac3', 'alac', 'dts', 'pcm_*'],
    videoCodecs: MOV_VIDEO,
    data: 'quicktime',
    covers: 'none',
  },
  '3gp': { ...PHONE, muxer: '3gp' },
  '3g2': { ...PHONE, muxer: '3g2' },
  mkv: MKV,
  mka: { ...MKV, videoCodecs: [] },
  webm: {
    ...MKV,
    muxer: 'webm',
    audioCodecs: ['opus', 'vorbis'],
    videoCodecs: ['vp8', 'vp9', 'av1'],
    subtitleCodecs: ['webvtt'],
    attachments: false,
    covers: 'none',
  },
  mxf: {
    ...FILM,
    muxer: 'mxf',
    audioCodecs: ['pcm_s24le', 'pcm_s16le'],
    videoCodecs: ['mpeg2video', 'prores', 'dnxhd', 'dvvideo', 'jpeg2000'],
  },
  ts: TS,
  m2ts: {
    ...TS,
    options: [...TS.options, '-mpegts_m2ts_mode', '1'],
    // Camcorders record PCM as a Blu-ray does.
    audioCodecs: [...TS.audioCodecs, 'pcm_bluray'],
    // Subtitles of Blu-ray.
    subtitleCodecs: [...TS.subtitleCodecs, 'hdmv_pgs_subtitle'],
  },
  mpg: {
    ...FILM,
    muxer: 'vob',
    options: TS.options,
    audioCodecs: ['mp2', 'mp3', 'ac3', 'dts'],
    videoCodecs: ['mpeg1video', 'mpeg2video'],
    subtitleCodecs: ['dvd_subtitle'],
  },
  avi: {
    ...FILM,
    muxer: 'avi',
    videoCodecs: AVI_VIDEO,
    audioCodecs: codecs('mp3 mp2 ac3 aac pcm_s16le pcm_s24le pcm_u8 pcm_s32le pcm_f32le pcm_alaw pcm_mulaw dts wmav2'),
  },
  flv: {
    ...FILM,
    muxer: 'flv',
    audioCodecs: ['aac', 'mp3', 'pcm_s16le', 'pcm_u8', 'pcm_alaw', 'pcm_mulaw'],
    videoCodecs: ['h264', 'flv1', 'flashsv', 'flashsv2', 'vp6f', 'vp6a'],
  },
  wmv: ASF,
  wma: { ...ASF, soundOnly: true },
  wav: { ...SOUND, muxer: 'wav', options: ['-rf64', 'auto'], audioCodecs: [...WAVE_PCM, 'mp3', 'ac3', 'dts'] },
  w64: { ...SOUND, muxer: 'w64', audioCodecs: WAVE_PCM },
  aiff: {
    ...SOUND,
    muxer: 'aiff',
    // AIFF keeps its tags in an ID3 chunk.
    options: ['-write_id3v2', '1'],
    audioCodecs: ['pcm_s16be', 'pcm_s24be', 'pcm_s32be', 'pcm_s8', 'pcm_f32be', 'pcm_f64be', 'pcm_s16le'],
    covers: 'stream',
  },
  flac: { ...SOUND, muxer: 'flac', audioCodecs: ['flac'], covers: 'stream', chapters: true },
  mp3: {
    ...SOUND,
    muxer: 'mp3',
    audioCodecs: ['mp3'],
    covers: 'stream',
    chapters: true,
    priming: 'signalled',
  },
  mp2: { ...SOUND, muxer: 'mp2', audioCodecs: ['mp2'] },
  ogg: OGG,
  opus: { ...OGG, muxer: 'opus', audioCodecs: ['opus'], soundOnly: true },
  ac3: { ...SOUND, muxer: 'ac3', audioCodecs: ['ac3'] },
  eac3: { ...SOUND, muxer: 'eac3', audioCodecs: ['eac3'] },
  aac: { ...SOUND, muxer: 'adts', audioCodecs: ['aac'] },
  // ffmpeg does not open most of the FLAC that it writes into CAF.
  caf: { ...SOUND, muxer: 'caf', audioCodecs: [...LITTLE_PCM, ...BIG_PCM, 'alac', 'opus', 'mp3'] },
  au: { ...SOUND, muxer: 'au', audioCodecs: BIG_PCM },
  wv: { ...SOUND, muxer: 'wv', audioCodecs: ['wavpack'] },
  tta: { ...SOUND, muxer: 'tta', audioCodecs: ['tta'] },
}

/** Profile of a container; undefined if ffmpeg cannot write it. */
export function containerProfile(container: string): ContainerProfile | undefined {
  return Object.hasOwn(PROFILES, container) ? PROFILES[container] : undefined
}

/** True for a container of audio: a user who chooses it for a video does not expect a picture. */
export function isSoundContainer(container: string): boolean {
  const profile = containerProfile(container)
  return profile !== undefined && (container === 'ogg' || profile.soundOnly || profile.videoCodecs?.length === 0)
}

/** True for a container of the family of MP4 and QuickTime. */
export function isMovieProfile({ data }: Pick<ContainerProfile, 'data'>): boolean {
  return data === 'mp4' || data === 'quicktime'
}

/** PCM whose packets have headers of their own. ffmpeg gives that of a DVD times that run away from the picture. */
const WITH_HEADS: ReadonlySet<string> = new Set(['pcm_bluray', 'pcm_dvd'])

/** True if a container can carry an audio codec. */
export function carriesAudio(profile: ContainerProfile, codec: string): boolean {
  const isAnyPcm = codec.startsWith('pcm_') && !WITH_HEADS.has(codec)
  return profile.audioCodecs.some((known) => known === codec || (known === 'pcm_*' && isAnyPcm))
}
