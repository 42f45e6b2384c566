import { execFile, spawnSync } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { readMatroska } from '../../../../src/media/write/matroska/read/matroska-file.js'
import { ffmpeg, ffmpegOutput, ffprobeJson, picture } from '../../../helpers/media-factory.js'
import { splicedFile } from '../../../helpers/spliced-file.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'

const run = promisify(execFile)
const HAS_MKVMERGE = spawnSync('mkvmerge', ['--version']).status === 0

const folder = folderOfTests()

/** A sound that resembles itself at no other time. */
const sweep = ['-f', 'lavfi', '-i', 'aevalsrc=0.4*sin(2*PI*t*(200+150*t))|0.3*sin(2*PI*t*(300+90*t)):s=48000:d=3']
const film = ['-c:v', 'libx264', '-g', '12', '-bf', '2', '-preset', 'ultrafast']

const AAC = ['-c:a', 'aac']
const CUES_AT_START = ['-reserve_index_space', '4096']

/** `CodecDelay` of each track of sound, in nanoseconds. */
async function delaysOf(path: string): Promise<readonly number[]> {
  const { tracks } = await readMatroska(path, (await stat(path)).size)
  return tracks.flatMap(({ isAudio, codecDelayNs }) => (isAudio ? [codecDelayNs] : []))
}

describe('Matroska', () => {
  type Form = readonly [string, name: string, isFilm: boolean, offset: readonly string[], options: readonly string[]]
  /** A form of each structure. */
  const forms: readonly Form[] = [
    ['late sound and cues at the start', 'both.mkv', true, ['-itsoffset', '0.5'], [...AAC, ...CUES_AT_START]],
    ['Opus', 'opus.webm', true, [], ['-c:v', 'libvpx', '-c:a', 'libopus']],
    ['FLAC', 'flac.mka', false, [], ['-c:a', 'flac']],
    ['no sizes', 'live.mkv', true, [], ['-c:a', 'aac', '-live', '1']],
  ]
  const further: readonly Form[] = [
    ['AAC', 'aac.mkv', true, [], AAC],
    ['sound that starts late', 'late.mkv', true, ['-itsoffset', '0.5'], AAC],
    ['cues at the start', 'cues.mkv', true, [], [...AAC, ...CUES_AT_START]],
    ['Opus alone', 'opus.mka', false, [], ['-c:a', 'libopus']],
    ['Vorbis', 'vorbis.webm', true, [], ['-c:v', 'libvpx', '-c:a', 'libvorbis']],
    ['MP3', 'mp3.mkv', true, [], ['-c:a', 'libmp3lame']],
    ['AC-3', 'ac3.mkv', true, [], ['-c:a', 'ac3']],
  ]

  it.each(process.env.VOXMUX_SOAK ? [...forms, ...further] : forms)(
    'replaces the packets of a file with %s, and no other structure',
    async (_name, name, isFilm, offset, options) => {
      const path = folder.file(name)
      const tags = ['-metadata', 'title=A title', '-metadata:s:a', 'language=deu']
      await ffmpeg(
        ...(isFilm ? picture(3) : []),
        ...offset,
        ...sweep,
        ...(isFilm ? film : []),
        ...tags,
        ...options,
        path,
      )
      const { plan, part, verified } = await writtenFile(path)
      const { writer } = bytesWriting(plan)
      expect(writer).toBe('matroska')
      expect(plan.losses).toEqual([])
      for (const offset of syncOffsets(verified)) expect(offset ?? 0).toBe(0)
      const [was, is] = await Promise.all(
        [path, part].map((file) => ffprobeJson(file, '-show_format', '-show_streams')),
      )
      const times = ({ format, streams }: Record<string, unknown>) => [
        (format as { start_time: string }).start_time,
        (streams as { start_time: string }[]).map(({ start_time }) => start_time),
      ]
      expect(times(is as Record<string, unknown>)).toEqual(times(was as Record<string, unknown>))
      expect(await delaysOf(part)).toEqual(await delaysOf(path))
      // Only a program that tests the sound reads its MD5, which ends the first block of the header.
      const md5Of = async (file: string) => {
        const bytes = await readFile(file)
        const at = bytes.indexOf('fLaC')
        return at < 0 ? file : bytes.toString('hex', at + 26, at + 42)
      }
      expect(await md5Of(part)).not.toBe(await md5Of(path))
    },
  )

  it('keeps a first block before zero, in its cluster', async () => {
    const [early, path] = [folder.file('early.mp4'), folder.file('early.mkv')]
    await ffmpeg(...picture(3), ...sweep, '-c:v', 'libx264', '-bf', '0', ...AAC, early)
    await ffmpeg('-i', early, '-c', 'copy', '-avoid_negative_ts', 'disabled', path)
    const { plan, part } = await writtenFile(path)
    expect(bytesWriting(plan).writer).toBe('matroska')
    const show = ['-show_entries', 'format=start_time:stream=start_time']
    const [was, is] = await Promise.all([path, part].map((file) => ffprobeJson(file, ...show)))
    expect(Number((was as { format: { start_time: string } }).format.start_time)).toBeLessThan(0)
    expect(is).toEqual(was)
  })

  it('keeps all packets outside a changed part if a cue leads to a first block before zero', async () => {
    const [early, path] = [folder.file('early-opus.mp4'), folder.file('early.mka')]
    await ffmpeg(...sweep, '-c:a', 'libopus', early)
    const copy = ['-c', 'copy', '-avoid_negative_ts', 'disabled', '-cluster_time_limit', '2000']
    await ffmpeg('-i', early, ...copy, path)
    const bytes = await readFile(path)
    // The only cue states a time of two bytes.
    const time = bytes.lastIndexOf(Buffer.from('b382', 'hex')) + 2
    await writeFile(path, bytes.fill(0, time, time + 2))
    const { splice, verify } = await splicedFile(path, [[1.2, 1.8]])
    expect(splice?.kind).toBe('spliced')
    await verify()
  })

  it('keeps the first samples of Vorbis whose silent first packet has the time of the second', async () => {
    const path = folder.file('first-samples.mka')
    const tick = 'aevalsrc=0.5*sin(2*PI*t*1000)*lt(t\\,0.002):s=48000:d=1'
    await ffmpeg('-f', 'lavfi', '-i', tick, '-c:a', 'libvorbis', folder.file('timed.mka'))
    // GStreamer writes such times.
    await ffmpeg('-i', folder.file('timed.mka'), '-c', 'copy', '-bsf:a', 'setts=ts=max(0\\,TS-3)', path)
    const { part } = await writtenFile(path)
    const loudest = async (file: string) => {
      const bytes = await ffmpegOutput('-i', file, '-t', '0.0025', '-f', 'f32le', '-')
      return Math.max(...new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)))
    }
    expect(await loudest(part)).toBeCloseTo((await loudest(path)) / 2, 1)
  })

  it('counts the statistics of the track again, and drops what it states of the old loudness', async () => {
    const path = folder.file('tagged.mkv')
    const facts = [
      'REPLAYGAIN_GAIN=-3.00 dB',
      'NUMBER_OF_FRAMES=7',
      'BPS=1',
      'COMPOSER=Someone',
      'ENCODER_SETTINGS=fast',
    ]
    const tags = facts.flatMap((fact) => ['-metadata:s:a', fact])
    await ffmpeg(...picture(3), ...sweep, ...film, ...tags, '-c:a', 'aac', path)
    const { plan, part } = await writtenFile(path)
    const lost = plan.losses.map(({ what }) => what.split(':')[1]).sort()
    expect(lost).toEqual(['ENCODER_SETTINGS', 'REPLAYGAIN_GAIN'])
    const { packets, streams } = await ffprobeJson(part, '-select_streams', 'a', '-show_packets', '-show_streams')
    const sizes = (packets as { size: string }[]).map(({ size }) => Number(size))
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    const { tags: made } = (streams as { tags: Record<string, string> }[])[0] ?? { tags: {} }
    expect(made).toMatchObject({ NUMBER_OF_FRAMES: String(sizes.length), COMPOSER: 'Someone', ENCODER: 'Lavc aac' })
    // The last packet holds the rest of three seconds.
    expect(made.DURATION).toMatch(/^00:00:03\.0[0-2]\d000000$/)
    expect(Math.abs(Number(made.BPS) - (8 * bytes) / 3)).toBeLessThan(0.01 * Number(made.BPS))
    expect(Object.keys(made)).not.toContain('REPLAYGAIN_GAIN')
  })

  it.skipIf(!HAS_MKVMERGE).each(['aac', 'ac3', 'flac', 'libvorbis'])(
    'leaves %s with a clock of 10 ms to the remux, because new packets do not fit it',
    async (codec) => {
      const [plain, path] = [folder.file(`${codec}.mkv`), folder.file(`${codec}-10ms.mkv`)]
      await ffmpeg(...picture(3), ...sweep, ...film, '-c:a', codec, plain)
      await run('mkvmerge', ['-q', '--timestamp-scale', '10000000', '-o', path, plain])
      const { plan, verified } = await writtenFile(path)
      const reason = 'its clock counts in steps of 10 ms'
      expect(plan.writing).toMatchObject({ kind: 'remux', declined: [{ writer: 'matroska', reason }] })
      for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(30)
    },
  )

  it.skipIf(!HAS_MKVMERGE)(
    `replaces laced and compressed blocks of mkvmerge${HAS_MKVMERGE ? '' : ' (mkvtoolnix is not installed)'}`,
    async () => {
      const [plain, path] = [folder.file('plain.mkv'), folder.file('laced.mkv')]
      await ffmpeg(...picture(3), ...sweep, ...film, '-c:a', 'libmp3lame', plain)
      const forms = ['--compression', '1:zlib', '--engage', 'no_simpleblocks', '--timestamp-scale', '100000']
      await run('mkvmerge', ['-q', ...forms, '--clusters-in-meta-seek', '-o', path, plain])
      const { plan, part, verified } = await writtenFile(path)
      expect(bytesWriting(plan).writer).toBe('matroska')
      expect(plan.losses).toEqual([])
      for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(3)
      const identified = async (file: string) => {
        const { stdout } = await run('mkvmerge', ['-J', file])
        const { tracks, errors, warnings } = JSON.parse(stdout) as Record<'tracks' | 'errors' | 'warnings', unknown[]>
        return { errors, warnings, tracks: tracks.map((track) => (track as { codec: string }).codec) }
      }
      expect(await identified(part)).toEqual(await identified(path))
      // mkvinfo names every element; only those of the voice and of places differ.
      const lines = async (file: string) => (await run('mkvinfo', [file])).stdout.split('\n')
      const [was, is] = await Promise.all([lines(path), lines(part)])
      const gone = was.filter((line) => !is.includes(line))
      expect(gone.filter((line) => !/Segment: size|Content (encoding|compression)/.test(line))).toEqual([])
    },
  )
})
