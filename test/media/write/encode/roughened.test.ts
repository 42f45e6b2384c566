import { beforeAll, expect, it } from 'vitest'
import { decodePcm } from '../../../../src/media/pcm/decode-pcm.js'
import type { PcmStream } from '../../../../src/media/pcm/pcm.js'
import { readSamples } from '../../../../src/media/pcm/pcm-samples.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { roughened } from '../../../../src/media/write/encode/roughened.js'
import { planOutput } from '../../../../src/media/write/plan-writing.js'
import { writeOutput } from '../../../../src/media/write/write-output.js'
import { ffmpeg } from '../../../helpers/media-factory.js'
import { collectPcm } from '../../../helpers/sound/pcm-buffers.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'

const RATE = 48_000
const folder = folderOfTests()
let path: string
beforeAll(async () => {
  path = folder.file('tone.m4a')
  const tone = ['-f', 'lavfi', '-i', `aevalsrc=0.95*sin(2*PI*440*t):s=${RATE}:d=4`]
  await ffmpeg(...tone, '-c:a', 'aac', '-aac_coder', 'twoloop', '-b:a', '160k', path)
})

async function samplesOf(stream: PcmStream): Promise<Float64Array> {
  return readSamples(await collectPcm(stream), stream.format.sample)
}

/** Sound against its error, in dB, in the middle of a track. */
function clearnessDb(sound: Float64Array, wanted: Float64Array): number {
  let [power, error] = [0, 0]
  for (let n = RATE; n < 3 * RATE; n += 1) {
    power += (wanted[n] as number) ** 2
    error += ((sound[n] as number) - (wanted[n] as number)) ** 2
  }
  return 10 * Math.log10(power / error)
}

it('encodes a loud pure tone as clearly as other sound', async () => {
  const media = await probe(path)
  const voice = decodePcm(media, { audioIndex: 0 })
  const part = folder.file('whole.part')
  await writeOutput(await planOutput(media, { replaced: [0] }), new Map([[0, voice]]), part)
  const output = await samplesOf(decodePcm(await probe(part), { audioIndex: 0 }))
  expect(clearnessDb(output, await samplesOf(voice))).toBeGreaterThan(30)
})

it.each(['s16', 's32', 'f32'] as const)(
  'raises no sample of %s, keeps silence, and adds little noise',
  async (sample) => {
    const media = await probe(path)
    const plain = decodePcm(media, { audioIndex: 0, sample })
    const [before, after] = [await samplesOf(plain), await samplesOf(roughened(plain))]
    expect(after).toHaveLength(before.length)
    expect(after.every((value, n) => Math.abs(value) <= Math.abs(before[n] as number))).toBe(true)
    expect(
      after.every(
        (value, n) => Math.abs(value - (before[n] as number)) <= Math.abs((before[n] as number) / 500) + 2 ** -16,
      ),
    ).toBe(true)
  },
)
