import { spawnSync } from 'node:child_process'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ffmpeg, picture, tone } from '../../helpers/media-factory.js'
import { splicedFile } from '../../helpers/spliced-file.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, writtenFile } from '../../helpers/written-file.js'

/** A program that reads media and was not written by us, with what it says of a file that is not quite right. */
interface Reader {
  readonly program: string
  readonly reads: RegExp
  readonly args: (path: string) => readonly string[]
  readonly complaint: RegExp
  readonly env?: Readonly<Record<string, string>>
}

const READERS: readonly Reader[] = [
  {
    program: 'mpv',
    reads: /./,
    args: (path) => [
      '--no-config',
      '--vo=null',
      '--ao=pcm',
      '--ao-pcm-file=/dev/null',
      '--untimed',
      '--msg-level=all=warn',
      path,
    ],
    complaint: /\S/,
  },
  {
    program: 'gst-launch-1.0',
    reads: /./,
    args: (path) => ['-q', 'playbin', 'video-sink=fakesink', 'audio-sink=fakesink', `uri=file://${path}`],
    complaint: /WARN|ERROR/,
    env: { GST_DEBUG: '2', GST_DEBUG_NO_COLOR: '1' },
  },
  { program: 'mediainfo', reads: /./, args: (path) => ['--Full', path], complaint: /conformance|truncated/i },
  { program: 'mkvmerge', reads: /mkv|webm/, args: (path) => ['-o', '/dev/null', path], complaint: /Warning|Error/ },
  {
    program: 'mkvinfo',
    reads: /mkv|webm/,
    args: (path) => ['--all', path],
    complaint: /error|invalid|unknown element/i,
  },
  { program: 'mp3val', reads: /mp3/, args: (path) => [path], complaint: /WARNING|ERROR/ },
  { program: 'mpg123', reads: /mp3/, args: (path) => ['-t', path], complaint: /warning|error/i },
  { program: 'opusinfo', reads: /opus/, args: (path) => [path], complaint: /warning|error|corrupt/i },
  { program: 'ogginfo', reads: /ogg/, args: (path) => [path], complaint: /warning|error|corrupt/i },
  { program: 'flac', reads: /flac/, args: (path) => ['-t', path], complaint: /warning|error/i },
]
const isInstalled = ({ program }: Reader) => spawnSync('which', [program]).status === 0
const installed = READERS.filter(isInstalled)
const missing = READERS.filter((reader) => !isInstalled(reader)).map(({ program }) => program)

/** What a reader says of a file, without times and addresses. */
function complaints({ program, args, complaint, env }: Reader, path: string): readonly string[] {
  const { stdout, stderr, error } = spawnSync(program, args(path), {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    timeout: 50_000,
  })
  if (error) return [error.message]
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => complaint.test(line))
  return [
    ...new Set(lines.map((line) => line.replaceAll(path, 'the file').replace(/\b(0x)?[\da-f.:]*\d[\da-f.:]*\b/g, 'N'))),
  ]
}

const folder = folderOfTests()

const AAC = ['-c:a', 'aac', '-b:a', '96k']
const film = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '12', '-pix_fmt', 'yuv420p']
type Row = readonly [file: string, options: readonly string[]]
const COMMON: readonly Row[] = [
  ['film.mp4', [...film, ...AAC]],
  ['film.mkv', [...film, ...AAC]],
  ['sound.mp3', ['-c:a', 'libmp3lame', '-b:a', '128k']],
]
/** Only in the soak. */
const RARE: readonly Row[] = [
  ['fragments.mp4', [...film, ...AAC, '-movflags', 'cmaf+delay_moov']],
  ['master.mov', [...film, '-c:a', 'pcm_s24le']],
  ['film.webm', ['-c:v', 'libvpx', '-deadline', 'realtime', '-c:a', 'libopus']],
  ['film.avi', [...film, '-c:a', 'pcm_s16le']],
  ['film-mp3.avi', ['-c:v', 'mpeg4', '-c:a', 'libmp3lame']],
  ['sound.m4a', AAC],
  ['sound.wav', ['-c:a', 'pcm_s16le', '-write_bext', '1', '-metadata', 'description=A take']],
  ['sound.flac', []],
  ['sound.opus', ['-c:a', 'libopus']],
  ['sound.ogg', ['-c:a', 'libvorbis']],
  ['lossless.ogg', ['-c:a', 'flac']],
  ['film.ogg', ['-c:v', 'libtheora', '-c:a', 'libvorbis']],
  ['sound.aac', AAC],
]
const hasPicture = (name: string) => /^(film|fragments|master)/.test(name)

describe.skipIf(missing.length > 0)(['programs that are not ours', ...missing].join(', not installed: '), () => {
  it.each(process.env.VOXMUX_SOAK ? [...COMMON, ...RARE] : COMMON)(
    'say nothing of an output that they did not say of its input: %s',
    async (name, options) => {
      const path = folder.file(name)
      await ffmpeg(...(hasPicture(name) ? picture(4) : []), ...tone(4, 48_000, 2), ...options, path)
      const whole = await writtenFile(path)
      bytesWriting(whole.plan)
      const outputs = [await named(whole.part, `whole-${name}`)]
      const spliced = await splicedFile(path, [[1.5, 2]])
      if (spliced.splice?.kind === 'spliced') outputs.push(await named(spliced.part, `part-${name}`))
      for (const reader of installed.filter(({ reads }) => reads.test(extname(name)))) {
        const known = complaints(reader, path)
        for (const output of outputs) {
          const said = complaints(reader, output).filter((line) => !known.includes(line))
          // The words are in the first line, which is all that a run of CI keeps of a test that is asked again.
          expect(said, `${reader.program} of ${output}: ${said.join('; ')}`).toEqual([])
        }
      }
    },
  )
})

/** The files that are damaged, each encoded once for all its readers. */
const made = new Map<string, Promise<Buffer>>()
async function make([name, options]: Row): Promise<Buffer> {
  const path = folder.file(`intact-${name}`)
  await ffmpeg(...(hasPicture(name) ? picture(2) : []), ...tone(2, 48_000, 2), ...options, path)
  return readFile(path)
}

describe.each(installed)('$program', (reader) => {
  it('says something of a damaged file', async () => {
    const rows = [...COMMON.slice(1), ...RARE]
    const row = rows.find(([file]) => reader.reads.test(extname(file))) as Row
    const [name] = row
    const path = folder.file(`${reader.program}-${name}`)
    const intact = made.get(name) ?? make(row)
    made.set(name, intact)
    await writeFile(path, await intact)
    const known = complaints(reader, path)
    const bytes = Buffer.from(await intact)
    bytes.fill(0xa5, bytes.length >> 2, bytes.length >> 1)
    await writeFile(path, bytes.subarray(0, -(bytes.length >> 2)))
    expect(complaints(reader, path).filter((line) => !known.includes(line))).not.toEqual([])
  })
})

/** Readers tell some formats by the ending. */
async function named(path: string, name: string): Promise<string> {
  const output = folder.file(name)
  await rename(path, output)
  return output
}
