import { expect, it } from 'vitest'
import { type AudioStreamInfo, audioStreams } from '../../../src/media/media-info.js'
import { probe } from '../../../src/media/probe/probe.js'
import { measureSound } from '../../../src/media/verify/measure-sound.js'
import { ffmpeg } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { libebur128, NO_LIBEBUR128 } from '../../helpers/system/libebur128.js'

const folder = folderOfTests()

async function measured(path: string, voiced: readonly boolean[] | null = null) {
  const media = await probe(path)
  return measureSound(media, audioStreams(media)[0] as AudioStreamInfo, { voiced })
}

const RATES = [48_000, 44_100, 32_000, 96_000]
const LAYOUTS = [
  ['mono', 1],
  ['stereo', 2],
  ['5.1', 6],
] as const
const FILES = process.env.VOXMUX_SOAK ? 100 : 3

/**
 * A sound that no other number has: a buzz as low as a voice that swells and fades, and quiet noise. A click or a tone
 * near half the sample rate has a true peak that two interpolators state up to half a decibel apart.
 */
function soundOf(number: number, channels: number): string {
  const level = (0.1 + 0.85 * ((number * 0.618) % 1)).toFixed(3)
  const noise = (10 ** (-(30 + ((number * 7) % 31)) / 20)).toFixed(4)
  const pitch = 90 + ((13 * number) % 300)
  const buzz = `sin(2*PI*${pitch}*t+3*sin(2*PI*${2 + (number % 5)}*t))*abs(sin(PI*t/${1 + (number % 3)}))`
  const share = (channel: number) => (0.9 - 0.1 * channel).toFixed(1)
  return Array.from(
    { length: channels },
    (_, channel) => `${level}*(${share(channel)}*${buzz}+${noise}*random(${channel}))`,
  ).join('|')
}

it(`agrees with libebur128 on ${FILES} sounds to 0.1 LU and 0.1 dB`, async ({ skip }) => {
  if (NO_LIBEBUR128 !== null) return skip(NO_LIBEBUR128)
  const judge = await libebur128(folder)
  for (let number = 0; number < FILES; number++) {
    const [layout, channels] = LAYOUTS[number % LAYOUTS.length] as (typeof LAYOUTS)[number]
    const rate = RATES[number % RATES.length] as number
    const [wav, raw] = [folder.file(`${number}.wav`), folder.file(`${number}.raw`)]
    const source = `aevalsrc=${soundOf(number, channels)}:s=${rate}:d=${3.2 + (number % 9) / 5}:c=${layout}`
    await ffmpeg('-f', 'lavfi', '-i', source, '-c:a', 'pcm_f32le', wav, '-c:a', 'pcm_f32le', '-f', 'f32le', raw)
    const [ours, theirs] = await Promise.all([measured(wav), judge(raw, channels, rate)])
    const differences = {
      integrated: (ours.integratedLufs ?? 0) - theirs.integrated,
      momentary: (ours.momentaryMaxLufs ?? 0) - theirs.momentary,
      shortTerm: (ours.shortTermMaxLufs ?? 0) - theirs.shortTerm,
      peak: (ours.truePeakDbtp ?? 0) - theirs.peak,
    }
    for (const [figure, by] of Object.entries(differences))
      expect(Math.abs(by), `${figure} of sound ${number}: ${JSON.stringify({ ours, theirs })}`).toBeLessThanOrEqual(0.1)
  }
})

it('measures dialogue, silence and phase', async () => {
  const path = folder.file('parts.wav')
  // One loud second, one quiet one, two silent ones, and one in which the channels oppose each other.
  const left = String.raw`sin(2*PI*997*t)*if(lt(t\,1)\,0.5\,if(lt(t\,2)\,0.05\,if(lt(t\,4)\,0\,0.1)))`
  const source = `aevalsrc=${left}|${left}*if(lt(t\\,4)\\,1\\,-1):s=48000:d=5`
  await ffmpeg('-f', 'lavfi', '-i', source, '-c:a', 'pcm_s24le', path)
  const loud = await measured(path, [true, false, false, false, false])
  const quiet = await measured(path, [false, true, false, false, false])
  // A sine of 997 Hz in both channels has its peak level in LUFS.
  expect([loud.dialogueLufs, quiet.dialogueLufs]).toEqual([expect.closeTo(-6, 0), expect.closeTo(-26, 0)])
  expect([loud.voiceShare, loud.rangeLu]).toEqual([0.2, null])
  expect([loud.silenceSec, loud.longestSilenceSec]).toEqual([expect.closeTo(2, 1), expect.closeTo(2, 1)])
  expect(loud.outOfPhaseSec).toBeCloseTo(1, 0)
  expect(loud.phase).toBeCloseTo(0.6, 1)
  // The sound begins two seconds after the picture, and the clock of a transport stream not at zero.
  const late = folder.file('late.ts')
  const sound = ['-itsoffset', '2', '-i', path, '-c:a', 'mp2', '-c:v', 'mpeg2video']
  await ffmpeg('-f', 'lavfi', '-i', 'color=size=64x48:rate=25:duration=7', ...sound, late)
  expect((await measured(late, [false, false, true])).dialogueLufs).toBeCloseTo(-6, 0)
})
