import { execFileSync } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { timelineBytes } from '../../../plugins/timelines/packing.js'
import { loadTimeline } from '../../../plugins/timelines/read-timeline.js'
import { jobBench } from '../../helpers/job-bench.js'
import { otioArchive } from './otio-archive.js'

const bench = jobBench()

/** Clips without line breaks that all have the same effects, as programs repeat their defaults. */
function withEffects(clips: number): string {
  const parameter = {
    'Default Parameter Value': 1,
    'Key Frames': {},
    'Parameter ID': 'transformationZoomX',
    'Parameter Value': 1,
    minValue: 0,
    maxValue: 100,
  }
  const effect = {
    OTIO_SCHEMA: 'Effect.1',
    name: '',
    metadata: { Enabled: true, Parameters: Array(8).fill(parameter) },
  }
  const time = (value: number) => ({ OTIO_SCHEMA: 'RationalTime.1', rate: 25, value })
  return JSON.stringify({
    children: Array.from({ length: clips }, (_, place) => ({
      OTIO_SCHEMA: 'Clip.2',
      name: `A${place % 40}`,
      source_range: { start_time: time((place * 7919) % 9973), duration: time((place * 104_729) % 997) },
      effects: Array(4).fill(effect),
    })),
  })
}

it('reads an OTIOZ of clips that all have the same effects', async () => {
  const text = withEffects(5000)
  const cut = await otioArchive(bench, 'cut.otioz', text, {})
  expect((await timelineBytes(cut, '.otioz')).equals(Buffer.from(text))).toBe(true)
})

it('reads a project that holds almost nothing but effects', async () => {
  const parameters = Array.from(
    { length: 20_000 },
    (_, place) => `
\t<AudioComponentParam ObjectID="${place}" ClassID="b6a41a4a-4d0c-4b1f-9b2e-aa1d5f3d0f1e" Version="10">
\t\t<StartKeyframe>-91445760000000000,0.,0,0,0,0,0,0</StartKeyframe>
\t\t<IsTimeVarying>false</IsTimeVarying>
\t\t<LowerBound>0</LowerBound>
\t\t<UpperBound>1</UpperBound>
\t\t<ParameterID>${place % 9}</ParameterID>
\t</AudioComponentParam>`,
  )
  const text = `<PremiereData Version="3">${parameters.join('')}\n</PremiereData>`
  const cut = bench.folder.file('cut.prproj')
  await writeFile(cut, gzipSync(text))
  expect((await timelineBytes(cut, '.prproj')).equals(Buffer.from(text))).toBe(true)
})

it.skipIf(process.platform === 'win32')('opens no pipe and no device, of its own name or in a bundle', async () => {
  const paths = ['pipe.otio', 'pipe.otioz', 'pipe.fcpxmld/Info.fcpxml'].map(bench.folder.file)
  const endless = ['zero.edl', 'zero.aaf', 'zero.otiod/content.otio'].map(bench.folder.file)
  for (const name of ['pipe.fcpxmld', 'zero.otiod']) await mkdir(bench.folder.file(name))
  execFileSync('mkfifo', paths)
  for (const path of endless) await symlink('/dev/zero', path)
  for (const path of [...paths, ...endless]) {
    const timeline = path.replace(/(\.fcpxmld|\.otiod)\/.*/, '$1')
    await expect(loadTimeline(timeline), timeline).rejects.toMatchObject({
      code: 'ERR_TIMELINE_UNREADABLE',
      message: expect.stringContaining('is not a file.'),
      remedies: [expect.stringMatching(/^Save the timeline as a file of its own, and name that file\./)],
    })
  }
})

it('says of a folder that is no bundle that it is one', async () => {
  await mkdir(bench.folder.file('folder.otio'))
  await expect(loadTimeline(bench.folder.file('folder.otio'))).rejects.toMatchObject({
    code: 'ERR_TIMELINE_UNREADABLE',
    message: expect.stringContaining('it is a folder without Info.fcpxml.'),
  })
})
