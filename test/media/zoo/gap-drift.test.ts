import { expect, it } from 'vitest'
import { decodePcm } from '../../../src/media/pcm/decode-pcm.js'
import { probe } from '../../../src/media/probe/probe.js'
import { verifyMux } from '../../../src/media/verify/verify-mux.js'
import { mux } from '../../../src/media/write/remux/mux.js'
import { planMux } from '../../../src/media/write/remux/mux-plan.js'
import { ffmpeg, ffmpegOutput } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

const RATE = 8000
/** Three hours with a gap each minute; the short form has the same gaps in less. */
const [totalSec, everySec] = process.env.VOXMUX_SOAK ? [3 * 3600, 60] : [40, 4]

it('a file with many gaps does not drift by a sample', async () => {
  const path = folder.file('gaps.mkv')
  // A click at every whole second, on a clock that the missing packets do not stop.
  const click = String.raw`aevalsrc=0.8*lt(mod(n\,${RATE})\,8):s=${RATE}:d=${totalSec}`
  const gap = String.raw`aselect=not(between(mod(t\,${everySec})\,1.3\,1.8))`
  await ffmpeg('-f', 'lavfi', '-i', `${click},${gap}`, '-c:a', 'pcm_s16le', path)
  const media = await probe(path)
  const plan = planMux(media, { replaced: [0], container: 'wav' })
  const output = folder.file('gaps.wav')
  const result = await mux(plan, new Map([[0, decodePcm(media, { audioIndex: 0 })]]), output)
  const { sync } = await verifyMux(plan, result, output, { level: 'full' })
  expect(sync[0]?.places.map(({ offsetSamples }) => offsetSamples)).toEqual([0, 0, 0])
  const samples = await ffmpegOutput('-i', output, '-f', 's16le', 'pipe:1')
  const drifted: number[] = []
  for (let sec = 0; sec < totalSec - 1; sec++) {
    const at = sec * RATE * 2
    const isClick = samples.readInt16LE(at) > 20_000 && samples.readInt16LE(at + 16) === 0
    if (!isClick) drifted.push(sec)
  }
  expect(drifted).toEqual([])
})
