/** What the files of the zoo are put together from: options for ffmpeg, run in a folder with {@link ZOO_TEXTS} in it. */

/** By name: what must lie in the folder. */
export const ZOO_TEXTS: Readonly<Record<string, string>> = {
  'words.srt': '1\n00:00:00,200 --> 00:00:00,600\nHello\n\n2\n00:00:00,700 --> 00:00:01,100\nWorld\n',
  'facts.txt': [
    ...[';FFMETADATA1', 'title=Zoo', 'artist=Keeper', 'comment=tiny'],
    ...['[CHAPTER]', 'TIMEBASE=1/1000', 'START=0', 'END=600', 'title=One'],
    ...['[CHAPTER]', 'TIMEBASE=1/1000', 'START=600', 'END=1500', 'title=Two', ''],
  ].join('\n'),
  'letters.ttf': 'not a font, but as good as one to a container',
  'bold.otf': 'another that is none',
}

/** A further input: the options that read it, and those that come with the output. */
export interface ZooPart {
  readonly input: readonly string[]
  readonly output: (inputIndex: number) => readonly string[]
}

const DURATION_SEC = '1.5'
/** A tone that rises, with bursts of noise in it: told apart at every place, to the sample. */
const WAVE = String.raw`0.3*sin(2*PI*(200+40*t)*t)+0.3*(random(0)-0.5)*lt(mod(t\,0.25)\,0.1)`

export const film = ['-f', 'lavfi', '-t', DURATION_SEC, '-i', 'testsrc=s=64x48:r=25']
export const stereo = ['-f', 'lavfi', '-t', DURATION_SEC, '-i', `aevalsrc=${WAVE}|0.2*sin(900*t*t):s=48000:c=stereo`]
const second = ['-f', 'lavfi', '-t', DURATION_SEC, '-i', 'sine=f=300:r=48000']

export const subtitles: ZooPart = {
  input: ['-i', 'words.srt'],
  output: (index) => ['-map', `${index}`, '-metadata:s:s:0', 'language=fra'],
}
export const tagged: ZooPart = {
  input: ['-i', 'facts.txt'],
  output: (index) => ['-map_metadata', `${index}`, '-map_chapters', `${index}`],
}
/** The same as Vorbis comments, which ffmpeg 5 would write wrongly from the list of chapters. */
export const commented: ZooPart = {
  input: ['-i', 'facts.txt'],
  output: (index) => [
    ...['-map_metadata', `${index}`, '-map_chapters', '-1'],
    ...comment('CHAPTER000', '00:00:00.000', 'One'),
    ...comment('CHAPTER001', '00:00:00.600', 'Two'),
  ],
}
export const cover: ZooPart = { input: ['-i', 'cover.png'], output: (index) => ['-map', `${index}`] }

/** Blu-ray's pictures of words. */
export const bluray: ZooPart = {
  input: ['-i', 'words.sup'],
  output: (index) => ['-map', `${index}`, '-metadata:s:s:0', 'language=fra'],
}
/** What a camera notes beside the picture. */
export const telemetry: ZooPart = {
  input: ['-f', 'data', '-i', 'facts.txt'],
  output: (index) => ['-map', `${index}`],
}

/** Fonts and a cover as Matroska has them. */
export const font = [
  ...attached(0, 'letters.ttf', 'font/ttf'),
  ...attached(1, 'bold.otf', 'application/vnd.ms-opentype'),
  ...attached(2, 'cover.png', 'image/png'),
]

/** Pictures of high range, with what a screen has to know of them. */
export const HDR = [
  ...['-pix_fmt', 'yuv420p10le', '-color_primaries', 'bt2020', '-color_trc', 'smpte2084', '-colorspace', 'bt2020nc'],
  ...['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params'],
  'log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:max-cll=1000,400:' +
    'master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)',
]

/** Pictures at their own times: some left out, some moved. */
export const jumpy = String.raw`select=gt(mod(n\,5)\,1),setpts=PTS+0.013*mod(N\,3)/TB`

/** A film with a voice and a second sound in another language. */
export function everySound(...parts: readonly ZooPart[]): readonly string[] {
  const named = [
    ...['-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=deu'],
    ...['-metadata:s:a:0', 'title=Voice', '-metadata:s:a:1', 'title=Zweite', '-disposition:a:1', '0'],
  ]
  return [...film, ...stereo, ...second, ...inputs(parts), ...maps(3), ...outputs(parts, 3), ...named]
}

/** A file of sound alone. */
export function onlySound(...parts: readonly ZooPart[]): readonly string[] {
  return [...stereo, ...inputs(parts), ...maps(1), ...outputs(parts, 1)]
}

/** Of the file (FLAC) and of the stream (Ogg). */
function comment(name: string, time: string, title: string): readonly string[] {
  return ['-metadata', '-metadata:s:0'].flatMap((option) => [option, `${name}=${time}`, option, `${name}NAME=${title}`])
}

function attached(place: number, name: string, kind: string): readonly string[] {
  const target = `-metadata:s:t:${place}`
  return ['-attach', name, target, `mimetype=${kind}`, target, `filename=${name}`]
}

function inputs(parts: readonly ZooPart[]): readonly string[] {
  return parts.flatMap(({ input }) => input)
}

function maps(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => ['-map', `${index}`]).flat()
}

function outputs(parts: readonly ZooPart[], from: number): readonly string[] {
  return parts.flatMap(({ output }, index) => output(from + index))
}
