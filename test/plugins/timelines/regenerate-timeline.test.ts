import { readFile, rename, writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { planTimeline, regenerateTimeline, type TimelineRequest } from '../../../plugins/timelines/index.js'
import { decodedPcm, jobBench, streamHash } from '../../helpers/job-bench.js'
import { ffmpeg, picture, tone } from '../../helpers/media-factory.js'
import { clip, external, timeline, timeRange, track } from './otio-file.js'
import { timelineRequest } from './timeline-request.js'

const bench = jobBench()

/** A cut over the sound of a film with timecode (10:00:00:00, 25 fps) and of a recorder's file. */
async function cutOverTwoFiles(): Promise<string> {
  const film = await bench.take('timecode.mov')
  await bench.take('speech.wav')
  const available = timeRange(900_000, 75, 25)
  const cut = bench.folder.file('cut.otio')
  await writeFile(
    cut,
    timeline([
      track('Video', [clip('picture', external(pathToFileURL(film).href, available), timeRange(900_010, 20, 25))]),
      track('Audio', [
        clip('film', external(pathToFileURL(film).href, available), timeRange(900_010, 20, 25)),
        clip('room', external('speech.wav'), timeRange(48_000, 24_000, 48_000)),
        clip('room', external('speech.wav'), timeRange(60_000, 24_000, 48_000)),
      ]),
    ]),
  )
  return cut
}

async function regenerate(input: string, more: Partial<TimelineRequest> = {}) {
  const plan = await planTimeline(timelineRequest(input, more), {})
  return { plan, outcome: await regenerateTimeline(plan, bench.pipeline.context, { concurrency: 2 }) }
}

/** The service finds no voice in the first file that it gets, or in any. */
function answerWithoutVoice(which: 'first' | 'any'): void {
  const { server } = bench
  server.behaviour.states = ({ id }) =>
    which === 'any' || id === server.files[0]?.id
      ? [{ status: 'Failed', errorCode: -3, progress: 0 }]
      : [{ status: 'Succeeded', errorCode: 0, progress: 100 }]
}

describe('a cut with a clip in which the service finds no voice', () => {
  it('is written with the original of that clip', async () => {
    answerWithoutVoice('first')
    const { outcome } = await regenerate(await cutOverTwoFiles())
    const published = outcome.files.filter(({ event }) => event.status === 'done')
    expect(published).toHaveLength(1)
    expect(outcome.files.flatMap(({ error }) => error?.errorCode ?? [])).toEqual([-3])
    expect(outcome.event).toMatchObject({ status: 'done', output: bench.folder.file('cut.regen.otio') })
    const made = await readFile(bench.folder.file('cut.regen.otio'), 'utf8')
    expect(['timecode.regen.mov', 'speech.regen.wav'].filter((name) => made.includes(name))).toHaveLength(1)
  })

  it('is not written if no other clip has one: it would be a copy', async () => {
    answerWithoutVoice('any')
    const { outcome } = await regenerate(await cutOverTwoFiles())
    expect(outcome.event).toMatchObject({ status: 'failed', output: null, error: { errorCode: -3 } })
    await expect(readFile(bench.folder.file('cut.regen.otio'))).rejects.toThrow('ENOENT')
  })
})

describe('a regenerated timeline', () => {
  it('sends only what the cut plays, leaves every other sample, names both files in each clip, and is skipped the second time', async () => {
    bench.answerWith('-af', 'volume=-6dB')
    const cut = await cutOverTwoFiles()
    const { plan, outcome } = await regenerate(cut)
    expect(outcome.files.map(({ event }) => event.error ?? event.status)).toEqual(['done', 'done'])
    expect(outcome.event).toMatchObject({ status: 'done', output: bench.folder.file('cut.regen.otio') })

    const [film, room] = plan.sources
    expect(film?.used).toEqual([{ startSample: 10 * 1920, endSample: 30 * 1920 }])
    // Two clips overlap and are one range.
    expect(room?.used).toEqual([{ startSample: 48_000, endSample: 84_000 }])
    const sentSec = outcome.files.flatMap(({ receipt }) => receipt?.voices ?? []).reduce((sum, v) => sum + v.paidSec, 0)
    expect(sentSec).toBeCloseTo(plan.paidSec ?? 0, 1)
    expect(sentSec).toBeLessThanOrEqual(plan.usedSec + 4 * plan.request.settings.recipe.segments.handleSec)
    expect(bench.server.charges).toBe(2)

    const before = await decodedPcm(bench.folder.file('speech.wav'))
    const after = await decodedPcm(bench.folder.file('speech.regen.wav'))
    expect(after.length).toBe(before.length)
    expect(after.subarray(0, 48_000 * 4)).toEqual(before.subarray(0, 48_000 * 4))
    expect(after.subarray(84_000 * 4)).toEqual(before.subarray(84_000 * 4))
    expect(after.subarray(48_000 * 4, 84_000 * 4)).not.toEqual(before.subarray(48_000 * 4, 84_000 * 4))
    expect(await streamHash(bench.folder.file('timecode.regen.mov'), '0:v')).toBe(
      await streamHash(bench.folder.file('timecode.mov'), '0:v'),
    )

    // Every clip of these files has a second reference, the active one, and nothing else is changed.
    const [old, made] = await Promise.all(
      [cut, bench.folder.file('cut.regen.otio')].map(async (path) => JSON.parse(await readFile(path, 'utf8'))),
    )
    for (const { children } of made.tracks.children) {
      for (const item of children) {
        expect(item.active_media_reference_key).toBe('voxmux')
        const { DEFAULT_MEDIA: original, voxmux } = item.media_references
        const isUrl = original?.target_url.startsWith('file:')
        expect(voxmux).toEqual({
          ...original,
          target_url: expect.stringMatching(isUrl ? /^file:.*\.regen\.(mov|wav)$/ : /^\w+\.regen\.(mov|wav)$/),
        })
        delete item.media_references.voxmux
        item.active_media_reference_key = 'DEFAULT_MEDIA'
      }
    }
    expect(made).toEqual(old)

    // Refused before anything is sent if another file has its name.
    const sent = bench.server.calls.upload
    const again = await regenerate(cut)
    expect([again.outcome.event.status, bench.server.calls.upload]).toEqual(['skipped', sent])
    await writeFile(bench.folder.file('cut.regen.otio'), 'mine')
    await expect(regenerate(cut)).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' })
    expect(await readFile(bench.folder.file('cut.regen.otio'), 'utf8')).toBe('mine')
  })

  it('adds to what an earlier cut regenerated of the same file, and sends no part of it again', async () => {
    bench.answerWith('-af', 'volume=-6dB')
    const [rush, output] = [await bench.take('speech.wav'), bench.folder.file('speech.regen.wav')]
    const cutOf = async (name: string, start: number, length: number) => {
      const played = clip('room', external('speech.wav'), timeRange(start, length, 48_000))
      await writeFile(bench.folder.file(name), timeline([track('Audio', [played])]))
      return bench.folder.file(name)
    }
    const [first, second] = [await cutOf('one.otio', 48_000, 36_000), await cutOf('two.otio', 60_000, 40_000)]
    await regenerate(first)
    const before = await decodedPcm(output)

    const { plan, outcome } = await regenerate(second)
    expect(outcome.event).toMatchObject({ status: 'done', error: null })
    const added = { startSample: 84_001, endSample: 100_000 }
    expect(plan.sources[0]?.regenerated).toEqual([{ startSample: 48_000, endSample: 84_000 }, added])
    const message = expect.stringContaining('sent again only if the cache no longer has it')
    expect(plan.notes).toContainEqual({ kind: 'kept', subject: 'speech.wav', message })
    const paid = outcome.files.flatMap(({ receipt }) => receipt?.voices ?? []).reduce((sum, v) => sum + v.paidSec, 0)
    expect(paid).toBeCloseTo(plan.paidSec ?? 0, 1)
    const { handleSec } = plan.request.settings.recipe.segments
    expect(paid).toBeLessThanOrEqual((added.endSample - added.startSample) / 48_000 + 2 * handleSec)
    expect(bench.server.charges).toBe(2)

    const [source, after] = [await decodedPcm(rush), await decodedPcm(output)]
    expect(after.subarray(0, 84_000 * 4).equals(before.subarray(0, 84_000 * 4))).toBe(true)
    expect(after.subarray(84_001 * 4, 100_000 * 4).equals(source.subarray(84_001 * 4, 100_000 * 4))).toBe(false)
    expect(after.subarray(100_000 * 4).equals(source.subarray(100_000 * 4))).toBe(true)

    const again = await regenerate(first)
    expect(again.outcome.files.map(({ event }) => event.status)).toEqual(['skipped'])
    expect((await decodedPcm(output)).equals(after)).toBe(true)

    // With --force, other settings regenerate the parts of the earlier cuts again, and the plan counts them.
    const settings = { ...timelineRequest(first).settings, preset: 'other', force: true }
    const forced = await planTimeline(timelineRequest(await cutOf('three.otio', 120_000, 12_000), { settings }), {})
    // The handles of both meet.
    expect(forced.sources[0]?.regenerated).toEqual([{ startSample: 48_000, endSample: 132_000 }])
    expect(forced.paidSec).toBeGreaterThanOrEqual(84_000 / 48_000)
    expect(forced.notes).toContainEqual(expect.objectContaining({ kind: 'again', subject: 'speech.wav' }))
    const remade = await regenerateTimeline(forced, bench.pipeline.context, { concurrency: 1 })
    expect(remade.files[0]?.receipt?.segments).toEqual([{ startSec: 1, endSec: 2.75 }])
    const made = await decodedPcm(output)
    expect(made.subarray(48_000 * 4, 132_000 * 4).equals(source.subarray(48_000 * 4, 132_000 * 4))).toBe(false)

    // Another's file under that name is as safe as ever.
    await writeFile(output, 'mine')
    const refused = await regenerate(second)
    expect(refused.outcome.files[0]?.error).toMatchObject({ code: 'ERR_OUTPUT_EXISTS' })
    expect(await readFile(output, 'utf8')).toBe('mine')
  })

  it('is not written where a file could not be regenerated', async () => {
    const cut = await cutOverTwoFiles()
    bench.server.behaviour.states = [{ status: 'Failed', errorCode: -11, progress: 0 }]
    const { outcome } = await regenerate(cut)
    expect(outcome.event).toMatchObject({ status: 'failed', output: null })
    await expect(readFile(bench.folder.file('cut.regen.otio'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  // The header of mkv states no length of its sound.
  it.each(['mkv', 'mov'])('leaves a clip that plays a .%s behind the end of its sound as it is', async (extension) => {
    const film = bench.folder.file(`film.${extension}`)
    await ffmpeg(...picture(6), ...tone(2), '-c:v', 'mjpeg', '-c:a', 'pcm_s16le', film)
    const cut = bench.folder.file('cut.otio')
    const reference = external(pathToFileURL(film).href)
    const clips = [clip('heard', reference, timeRange(10, 20, 25)), clip('silent', reference, timeRange(100, 20, 25))]
    await writeFile(cut, timeline([track('Audio', clips)]))
    const plan = await planTimeline(timelineRequest(cut), {})
    expect(plan.sources.map(({ usedSec }) => usedSec)).toEqual([0.8])
    expect(plan.notes).toContainEqual(expect.objectContaining({ kind: 'outside', subject: 'silent' }))

    await writeFile(cut, timeline([track('Audio', clips.slice(1))]))
    await expect(planTimeline(timelineRequest(cut), {})).rejects.toMatchObject({ code: 'ERR_TIMELINE_OUTSIDE' })
  })

  it('encodes the relative path of a new file if that of the old one is encoded', async () => {
    bench.answerWith('-af', 'volume=-6dB')
    await rename(await bench.take('speech.wav'), bench.folder.file('take #1.wav'))
    const cut = bench.folder.file('cut.otio')
    const room = clip('room', external('take%20%231.wav'), timeRange(48_000, 24_000, 48_000))
    await writeFile(cut, timeline([track('Audio', [room])]))
    expect((await regenerate(cut)).outcome.event).toMatchObject({ status: 'done', error: null })
    expect(await readFile(bench.folder.file('cut.regen.otio'), 'utf8')).toContain('"take%20%231.regen.wav"')
  })
})
