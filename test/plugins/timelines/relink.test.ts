import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readTimeline } from '../../../plugins/timelines/read-timeline.js'
import { rational } from '../../../plugins/timelines/time/rational.js'

const sample = (name: string) => readFile(fileURLToPath(new URL(`samples/${name}`, import.meta.url)), 'utf8')

const readText = (name: string, text: string) =>
  readTimeline(
    { path: name, textPath: name, text, extension: extname(name), encoding: 'utf8', needsFrameRate: false },
    rational(25),
  )

/** The text with every file of it named anew, and the lines that differ: `- old` and `+ new`. */
async function relinked(name: string) {
  const text = await sample(name)
  const timeline = readText(name, text)
  const media = timeline.sources.map(({ id, name: file }) => {
    const stem = file.replace(/(\.\w+)?$/, '.regen$1')
    return [id, { path: `/new & good/${stem}`, original: `/old/${file}` }] as const
  })
  const made = timeline.relink(new Map(media))
  const [before, after] = [text.split('\n'), made.split('\n')]
  const changes = [
    ...before.filter((line) => !after.includes(line)).map((line) => `- ${line.trim()}`),
    ...after.filter((line) => !before.includes(line)).map((line) => `+ ${line.trim()}`),
  ]
  return { text, made, timeline, again: readText(name, made), changes }
}

describe('a relinked timeline', () => {
  it.each(['pal-25.otio', 'film-24.otio', 'ndf-23976.fcpxml', 'ntsc-2997.xml', 'df-2997.edl'])(
    'plays the same ranges of the new files: %s',
    async (name) => {
      const { timeline, again } = await relinked(name)
      expect(again.uses.map(({ range }) => range)).toEqual(timeline.uses.map(({ range }) => range))
      expect(again.sources.map((source) => source.name)).toEqual(
        timeline.sources.map((source) => source.name.replace(/(\.\w+)$/, '.regen$1')),
      )
      if (!name.endsWith('.edl'))
        expect(again.sources.every(({ paths }) => paths[0]?.startsWith('/new & good/'))).toBe(true)
    },
  )

  it('of FCPXML differs in the addresses, and what would lead back to the old files is gone', async () => {
    const { changes } = await relinked('ndf-23976.fcpxml')
    expect(changes).toMatchInlineSnapshot(`
      [
        "- <asset id="r2" name="A001" uid="7B2C" start="86486400/24000s" duration="1441440/24000s" hasVideo="1" format="r1" hasAudio="1" audioSources="1" audioChannels="2" audioRate="48000">",
        "- <media-rep kind="original-media" sig="7B2C" src="file:///Volumes/Rushes/A001%20take%202.mov">",
        "- <bookmark>Ym9va21hcms=</bookmark>",
        "- <media-rep kind="proxy-media" sig="99" src="file:///Volumes/Rushes/Proxy/A001.mov"/>",
        "- <media-rep kind="original-media" src="file:///Volumes/Sound/Boom.wav"/>",
        "+ <asset id="r2" name="A001" start="86486400/24000s" duration="1441440/24000s" hasVideo="1" format="r1" hasAudio="1" audioSources="1" audioChannels="2" audioRate="48000">",
        "+ <media-rep kind="original-media" src="file:///new%20&amp;%20good/A001%20take%202.regen.mov">",
        "+ <media-rep kind="original-media" src="file:///new%20&amp;%20good/Boom.regen.wav"/>",
      ]
    `)
  })

  it('of FCP7 XML differs in the addresses alone, written as they were', async () => {
    const { changes } = await relinked('ntsc-2997.xml')
    expect(changes).toMatchInlineSnapshot(`
      [
        "- <pathurl>file://localhost/Volumes/Rushes/Interview%20%26%20B-roll.mov</pathurl>",
        "- <file id="file-2"><name>room.wav</name><pathurl>../sound/room.wav</pathurl><rate><timebase>30</timebase><ntsc>TRUE</ntsc></rate><duration>9000</duration></file>",
        "+ <pathurl>file://localhost/new%20&amp;%20good/Interview%20&amp;%20B-roll.regen.mov</pathurl>",
        "+ <file id="file-2"><name>room.wav</name><pathurl>/new &amp; good/room.regen.wav</pathurl><rate><timebase>30</timebase><ntsc>TRUE</ntsc></rate><duration>9000</duration></file>",
      ]
    `)
  })

  it('of an edit decision list differs in the names of its clips alone', async () => {
    const { changes } = await relinked('df-2997.edl')
    expect(changes).toMatchInlineSnapshot(`
      [
        "- * FROM CLIP NAME: A001C003.MOV",
        "- * FROM CLIP NAME: A001C003.MOV",
        "+ * FROM CLIP NAME: A001C003.regen.MOV",
        "+ * FROM CLIP NAME: A001C003.regen.MOV",
      ]
    `)
    const unnamed = await relinked('ndf-5994.edl')
    expect(unnamed.changes).toMatchInlineSnapshot(`
      [
        "- * FROM CLIP NAME: CARD1.MXF",
        "- * TO CLIP NAME: CARD2.MXF",
        "+ * FROM CLIP NAME: CARD1.regen",
        "+ * FROM CLIP NAME: CARD1.regen.MXF",
        "+ * TO CLIP NAME: CARD2.regen.MXF",
        "+ * FROM CLIP NAME: CARD2.regen",
      ]
    `)
  })

  it('of OTIO keeps numbers as they are written, those beyond 2^53 too, and gives old clips the new schema', async () => {
    const { made } = await relinked('film-24.otio')
    expect(made).toContain('"id": 9007199254740993')
    expect(made).toContain('"rate": 24.0')
    const clip = JSON.parse(made).tracks.children[0].children[0]
    expect(Object.keys(clip.media_references)).toEqual(['DEFAULT_MEDIA', 'voxmux'])
    expect([clip.OTIO_SCHEMA, clip.active_media_reference_key]).toEqual(['Clip.2', 'voxmux'])
    expect(clip.media_references.DEFAULT_MEDIA.target_url).toBe('file:///film/S1.mov')
    expect(clip.media_references.voxmux.target_url).toBe('file:///new%20&%20good/S1.regen.mov')
  })

  it('that names no new file is the old one, to the byte', async () => {
    for (const name of ['pal-25.otio', 'ndf-23976.fcpxml', 'ntsc-2997.xml', 'df-2997.edl', 'ndf-5994.edl']) {
      const text = (await sample(name)).replaceAll('\n', '\r\n')
      expect(readText(name, text).relink(new Map())).toBe(text)
    }
  })
})
