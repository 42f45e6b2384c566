import { describe, expect, it } from 'vitest'
import { decodePcm } from '../../../../src/media/pcm/decode-pcm.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { mux } from '../../../../src/media/write/remux/mux.js'
import { planMux } from '../../../../src/media/write/remux/mux-plan.js'
import { ffmpeg, picture, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

async function remuxed(name: string, ...options: readonly string[]) {
  const path = folder.file(name)
  await ffmpeg(...picture(2), ...tone(2, 48_000, 2), ...options, path)
  const media = await probe(path)
  const part = `${path}.part`
  await mux(planMux(media, { replaced: [0] }), new Map([[0, decodePcm(media, { audioIndex: 0 })]]), part)
  return { before: media, after: await probe(part) }
}

describe('the identity of a file that ffmpeg writes anew', () => {
  it('keeps packet ids, program number and service of a transport stream', async () => {
    const pids = [
      '-streamid',
      '0:1234',
      '-streamid',
      '1:2345',
      '-mpegts_service_id',
      '7',
      '-mpegts_pmt_start_pid',
      '500',
    ]
    const names = ['-metadata', 'service_name=Channel One', '-metadata', 'service_provider=A house']
    const { before, after } = await remuxed('named.ts', '-c:v', 'mpeg2video', '-c:a', 'mp2', ...pids, ...names)
    expect(before.programs).toEqual([{ id: 7, pmtPid: 500, name: 'Channel One', provider: 'A house' }])
    expect(after.programs).toEqual(before.programs)
    expect(after.streams.map(({ id }) => id)).toEqual([1234, 2345])
  })

  it('gives the original that is kept beside its voice an id of its own', async () => {
    const media = await probe(folder.file('named.ts'))
    const part = folder.file('kept.ts')
    await mux(
      planMux(media, { replaced: [0], keepOriginal: true }),
      new Map([[0, decodePcm(media, { audioIndex: 0 })]]),
      part,
    )
    const ids = (await probe(part)).streams.map(({ id }) => id)
    expect(ids.slice(0, 2)).toEqual([1234, 2345])
    expect(new Set(ids).size).toBe(3)
  })

  it('gives a stream another id in .m2ts if the table has that one', async () => {
    const path = folder.file('plain.ts')
    await ffmpeg(...picture(2), ...tone(2, 48_000, 2), '-c:v', 'mpeg2video', '-c:a', 'mp2', path)
    const media = await probe(path)
    const part = folder.file('plain.m2ts')
    const sound = new Map([[0, decodePcm(media, { audioIndex: 0 })]])
    await mux(planMux(media, { replaced: [0], container: 'm2ts' }), sound, part)
    expect(media.streams.map(({ id }) => id)).toEqual([256, 257])
    const { programs, streams } = await probe(part)
    expect(programs?.[0]?.pmtPid).toBe(256)
    expect(streams.map(({ id }) => id)).toEqual([259, 257])
  })

  it('writes the subtitles of Blu-ray into .m2ts, where they come from', async () => {
    const media = await probe(folder.file('named.ts'))
    const subtitle = { ...media.streams[0], index: 2, kind: 'subtitle', codec: 'hdmv_pgs_subtitle', language: null }
    const film = { ...media, streams: [...media.streams, subtitle] } as typeof media
    const lostIn = (container: string) => planMux(film, { replaced: [0], container }).losses.map(({ what }) => what)
    expect(lostIn('m2ts')).toEqual([])
    expect(lostIn('ts')).toEqual(['subtitle stream 2 (hdmv_pgs_subtitle)'])
  })

  it('gives an MXF an identity of its own, not zeros', async () => {
    const { before, after } = await remuxed('named.mxf', '-c:v', 'mpeg2video', '-c:a', 'pcm_s16le')
    const [was, is] = [before, after].map(({ tags }) => tags.material_package_umid ?? '')
    expect(was).toMatch(/^0x060A2B34/)
    expect(is?.slice(0, 26)).toBe(was?.slice(0, 26))
    expect(is?.slice(-32)).not.toMatch(/^0+$/)
  })
})
