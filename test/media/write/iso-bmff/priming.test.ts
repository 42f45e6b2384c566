import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probe } from '../../../../src/media/probe/probe.js'
import { ffmpeg, ffmpegOutput, testFolder, tone } from '../../../helpers/media-factory.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'

it('begins fragments as early as before, if their priming is longer than that of the new packets', async () => {
  const folder = await testFolder()
  const path = folder.file('dash.mp4')
  await ffmpeg(...tone(2, 48_000, 1), '-c:a', 'aac', '-movflags', 'dash+delay_moov', path)
  const file = await readFile(path)
  // The tick at which the only edit begins: 1024 here, 2048 after other encoders.
  file.writeUInt32BE(2048, file.indexOf('elst') + 16)
  await writeFile(path, file)
  const { media, plan, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('iso-bmff')
  expect(media.startSec * 48_000).toBeCloseTo(-2048, 0)
  expect(verified.output.startSec).toBe(media.startSec)
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  await folder.remove()
})

it.each([
  ['sound', 'cmaf+delay_moov', 312],
  ['sound', 'frag_keyframe+empty_moov+default_base_moof', 312],
  ['film', 'frag_keyframe+empty_moov+default_base_moof', 312],
  // As Chromium writes it.
  ['sound', 'frag_keyframe+empty_moov+default_base_moof', 3840],
  ['film', 'frag_keyframe+empty_moov+default_base_moof', 3840],
])(
  'keeps Opus of a fragmented %s (%s) in place, whose priming of %i no edit list hides',
  async (kind, flags, priming) => {
    const folder = await testFolder()
    const path = folder.file('opus.mp4')
    const noise = ['-f', 'lavfi', '-i', 'anoisesrc=d=3:a=0.3:seed=7:r=48000,lowpass=3000']
    const picture = kind === 'film' ? ['-f', 'lavfi', '-i', 'testsrc2=s=160x90:d=3', '-c:v', 'libx264'] : []
    const fragments = ['-movflags', flags, '-frag_duration', '700000']
    await ffmpeg(...noise, ...picture, '-c:a', 'libopus', '-strict', '-2', ...fragments, path)
    const file = await readFile(path)
    file.writeUInt16BE(priming, file.indexOf('dOps') + 6)
    await writeFile(path, file)
    const { media, plan, verified } = await writtenFile(path)
    expect(bytesWriting(plan).writer).toBe('iso-bmff')
    expect(verified.output.startSec).toBe(media.startSec)
    expect(verified.sync[0]?.places.map(({ offsetSamples }) => offsetSamples)).toEqual([0, 0, 0])
    await folder.remove()
  },
)

it.each(['mp4', 'mov'])(
  'keeps Opus of GStreamer in a fragmented .%s in place, whose pre-skip has its bytes in reverse',
  async (kind) => {
    const folder = await testFolder()
    const [made, path] = [folder.file('opus.mp4'), folder.file(`reverse.${kind}`)]
    const noise = ['-f', 'lavfi', '-i', 'anoisesrc=d=3:a=0.3:seed=7:r=48000,lowpass=3000']
    await ffmpeg(...noise, '-c:a', 'libopus', '-movflags', 'frag_keyframe+empty_moov', '-frag_duration', '700000', made)
    const file = await readFile(made)
    file.writeUInt16LE(312, file.indexOf('dOps') + 6)
    file.writeUInt32LE(48_000, file.indexOf('dOps') + 8)
    if (kind === 'mov') file.write('qt  ', file.indexOf('ftyp') + 4, 'latin1')
    await writeFile(path, file)
    const { plan, part, verified } = await writtenFile(path)
    // ffmpeg takes 0.3 s for priming and drops it.
    const start = await ffmpegOutput('-i', part, '-t', '0.2', '-f', 's8', '-')
    expect(Math.max(...start.map((value) => value & 0x7f))).toBeGreaterThan(0)
    // ffmpeg writes Opus in no .mov.
    expect(plan.writing.kind).toBe(kind === 'mov' ? 'remux' : 'bytes')
    for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
    await folder.remove()
  },
)

it.each([
  ['ac3', 'sound'],
  ['eac3', 'sound'],
  ['mp2', 'sound'],
  ['libmp3lame', 'film'],
])('keeps %s of a fragmented %s in place, whose priming is no whole packet', async (codec, kind) => {
  const folder = await testFolder()
  const path = folder.file('film.mov')
  const picture = kind === 'film' ? ['-f', 'lavfi', '-i', 'testsrc2=s=160x90:d=3', '-c:v', 'mpeg4'] : []
  const flags = codec === 'libmp3lame' ? 'frag_keyframe+empty_moov' : 'frag_keyframe+delay_moov'
  const fragments = ['-movflags', flags, '-use_editlist', '0', '-frag_duration', '700000']
  await ffmpeg(...picture, ...tone(3), '-c:a', codec, ...fragments, path)
  const { media, plan, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('iso-bmff')
  expect(plan.notes.at(-1)).toMatch(/the priming of its encoder replaces the first (5|10|23) ms/)
  expect(verified.output.startSec).toBe(media.startSec)
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  await folder.remove()
})

/** Sound whose track counts ten million ticks a second. @param keepsEdits false for no edit list */
async function finelyTimed(path: string, keepsEdits: boolean): Promise<void> {
  // Of whole packets, so that all durations are in one row.
  await ffmpeg(...tone(2.048, 48_000, 1), '-c:a', 'aac', path)
  const bytes = await readFile(path)
  const ticks = Math.round((1024 * 1e7) / 48_000)
  const [row, clock] = [bytes.indexOf('stts') + 12, bytes.indexOf('mdhd') + 16]
  bytes.writeUInt32BE(ticks, row + 4)
  bytes.writeUInt32BE(1e7, clock)
  bytes.writeUInt32BE(ticks * bytes.readUInt32BE(row), clock + 4)
  bytes.writeUInt32BE(ticks, bytes.indexOf('elst') + 16)
  if (!keepsEdits) bytes.write('free', bytes.indexOf('edts'))
  await writeFile(path, bytes)
}

it('keeps MP3 of fragments in place, whose edit list hides only the shorter priming of MP2', async () => {
  const folder = await testFolder()
  const path = folder.file('film.mp4')
  const noise = ['-f', 'lavfi', '-i', 'anoisesrc=d=0.7:a=0.3:seed=7:r=48000,lowpass=3000']
  await ffmpeg(...noise, '-c:a', 'mp2', '-movflags', 'frag_keyframe+delay_moov', path)
  const { media, plan, verified } = await writtenFile(path)
  // MP4 has one name for both.
  expect(media.streams[0]?.codec).toBe('mp3')
  expect(bytesWriting(plan).writer).toBe('iso-bmff')
  expect(plan.notes.at(-1)).toMatch(/the priming of its encoder replaces the first 23 ms/)
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  await folder.remove()
})

it('states its priming in samples, for which ffmpeg takes the ticks of an edit list', async () => {
  const folder = await testFolder()
  const path = folder.file('fine.mp4')
  await finelyTimed(path, false)
  const { plan, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('iso-bmff')
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  await folder.remove()
})

it('refuses sound of which ffmpeg leaves out seconds with the priming', async () => {
  const folder = await testFolder()
  const path = folder.file('fine-priming.mp4')
  // ffmpeg decodes none of two seconds.
  await finelyTimed(path, true)
  const refused = probe(path)
  await expect(refused).rejects.toMatchObject({ code: 'ERR_UNREADABLE', exitCode: 5 })
  await expect(refused).rejects.toThrow('leaves out 4.4 s of its sound')
  await folder.remove()
})

it('takes sound of which ffmpeg leaves out little, however much of it is trimmed', async () => {
  const folder = await testFolder()
  const path = folder.file('trimmed.m4a')
  await ffmpeg(...tone(6, 48_000, 1), '-c:a', 'aac', path)
  const file = await readFile(path)
  // 50,000 ticks a second, and five seconds before the first sample that plays.
  file.writeUInt32BE(50_000, file.indexOf('mdhd') + 16)
  file.writeUInt32BE(900, file.indexOf('elst') + 12)
  file.writeUInt32BE(250_000, file.indexOf('elst') + 16)
  await writeFile(path, file)
  await expect(probe(path)).resolves.toMatchObject({ container: 'm4a' })
  await folder.remove()
})

it('takes fragments with such priming, of which ffmpeg leaves out nothing', async () => {
  const folder = await testFolder()
  const path = folder.file('fragments.ismv')
  const form = ['-f', 'ismv', '-use_editlist', '1', '-movflags', 'delay_moov', '-frag_duration', '1000000']
  await ffmpeg(...tone(4, 48_000, 1), '-c:a', 'aac', ...form, path)
  const { plan, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('iso-bmff')
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  await folder.remove()
})
