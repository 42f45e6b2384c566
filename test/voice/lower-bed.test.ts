import { expect, test } from 'vitest'
import { BED_LOWER_DB } from '../../src/voice/bed/bed-gain.js'
import { LOWER_REACH_SEC } from '../../src/voice/bed/lower-bed.js'
import { cutBlocks, SAMPLE_RATE as RATE } from '../../src/voice/block-plan.js'
import { createEmbeddedEngine, EMBEDDED_PLAN } from '../../src/voice/embedded-engine.js'
import { evidenceSettings } from '../../src/voice/restore/evidence-settings.js'
import { mixAt } from '../bench/voice-quality/made-noise.js'
import { NO_SPEECH, readSpeechPairs } from '../bench/voice-quality/speech-pairs.js'
import { stoi } from '../bench/voice-quality/stoi.js'
import { inBuffers } from '../helpers/sound/float-buffers.js'
import { type MusicKind, madeMusic } from '../helpers/sound/made-music.js'
import { noisySpeech } from '../helpers/sound/made-speech.js'

const engine = await createEmbeddedEngine(evidenceSettings.parse({}))
type Sound = Float32Array<ArrayBuffer>

async function lowered(sound: Sound): Promise<Sound> {
  const [change] = (await engine.lowerBed({ channels: [sound], innerStart: 0, innerEnd: sound.length })).channels
  return sound.map((value, i) => value + (change?.[i] ?? 0))
}

function mixed(ratioDb: number, voice: Sound, kind: MusicKind): Sound {
  return Float32Array.from(mixAt(ratioDb, voice, madeMusic(kind, voice.length)))
}

/** How much of the music is left in parts of a sound, in dB: of what is not voice, as much as follows the music. */
function musicDb(sound: Sound, voice: Sound, music: Sound, parts: readonly (readonly [number, number])[]): number {
  let [product, power] = [0, 0]
  for (const [from, to] of parts) {
    for (let i = Math.round(from * RATE); i < to * RATE; i++) {
      product += ((sound[i] ?? 0) - (voice[i] ?? 0)) * (music[i] ?? 0)
      power += (music[i] ?? 0) ** 2
    }
  }
  return 20 * Math.log10(product / power)
}

const CASES: readonly [MusicKind, number][] = [['pop', 12]]
const SOAK_CASES: readonly [MusicKind, number][] = process.env.VOXMUX_SOAK
  ? [
      ['pop', 6],
      ['chords', 6],
      ['chords', 12],
    ]
  : []

if (NO_SPEECH) process.stderr.write(`No bed under recorded speech is lowered: ${NO_SPEECH}.\n`)

test.skipIf(NO_SPEECH).each([...CASES, ...SOAK_CASES])(
  '%s %s dB under recorded speech falls by 6 dB, in pauses as under speech, and the voice stays',
  async (kind, ratioDb) => {
    const [one, , , other] = (await readSpeechPairs()).filter(({ sampleRate }) => sampleRate === RATE)
    const voice = new Float32Array(9 * RATE)
    voice.set(one?.clean.subarray(0, 3.9 * RATE) ?? [], 0.5 * RATE)
    voice.set(other?.clean.subarray(0, 2.2 * RATE) ?? [], 6.6 * RATE)
    const sound = mixed(ratioDb, voice, kind)
    const music = sound.map((value, i) => value - (voice[i] ?? 0))
    const result = await lowered(sound)
    const inPause = musicDb(result, voice, music, [[5, 6.4]])
    const underSpeech = musicDb(result, voice, music, [
      [0.5, 4],
      [6.6, 8.8],
    ])
    expect(Math.abs(inPause + BED_LOWER_DB)).toBeLessThan(0.5)
    expect(Math.abs(underSpeech - inPause)).toBeLessThan(1)
    expect(stoi(voice, result, RATE)).toBeGreaterThan(stoi(voice, sound, RATE) - 0.05)
  },
  240_000,
)

const made = noisySpeech(9 * RATE, { noiseGain: 0.05, seed: 12 }).clean

test('a channel without music stays as it is, to the bit, also beside one with music', async () => {
  const voice = made.slice(0, 5 * RATE)
  const channels = [voice.toReversed(), mixed(6, voice, 'chords')]
  const changes = (await engine.lowerBed({ channels, innerStart: 0, innerEnd: voice.length })).channels
  expect(changes[0]?.every((value) => value === 0)).toBe(true)
  expect(changes[1]?.some((value) => value !== 0)).toBe(true)
}, 240_000)

test('music makes no step at the joints of blocks, and falls by 6 dB there', async () => {
  const voice = made.slice().fill(0, 4 * RATE, 7 * RATE)
  const sound = mixed(9, voice, 'pop')
  const unbroken = await lowered(sound)
  const reach = Math.round(LOWER_REACH_SEC * RATE)
  const { beforeSamples, afterSamples } = EMBEDDED_PLAN
  const joint = Math.round(5.6 * RATE)
  const plan = { blockSamples: joint, beforeSamples: beforeSamples + reach, afterSamples: afterSamples + reach }
  const joined = sound.slice()
  let at = 0
  for await (const block of cutBlocks(inBuffers(sound, 65_536), 1, plan)) {
    const [change] = (await engine.lowerBed(block)).channels
    for (const value of change ?? []) joined[at] = (joined[at++] ?? 0) + value
  }
  // The joint lies in a pause: music alone.
  const levelDb = (samples: Sound, from: number) => {
    const part = samples.subarray(joint + from * RATE, joint + (from + 0.5) * RATE)
    return 10 * Math.log10(part.reduce((sum, value) => sum + value * value, 0))
  }
  for (const from of [-0.5, 0]) {
    expect(Math.abs(levelDb(joined, from) - levelDb(unbroken, from))).toBeLessThan(0.3)
    expect(Math.abs(levelDb(joined, from) - levelDb(sound, from) + BED_LOWER_DB)).toBeLessThan(0.5)
  }
}, 240_000)
