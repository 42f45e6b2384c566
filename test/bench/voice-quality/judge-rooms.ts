import { createEmbeddedEngine } from '../../../src/voice/embedded-engine.js'
import type { VoiceEngine } from '../../../src/voice/engine.js'
import { evidenceSettings } from '../../../src/voice/restore/evidence-settings.js'
import { BlendedGain } from '../../../src/voice/restore/frame-gain.js'
import { BIN_HZ } from '../../../src/voice/restore/spectral-change.js'
import { judgeSound, type Likeness } from './judge-voice.js'
import { makeNoise, mixAt } from './made-noise.js'
import { inRoom } from './made-rooms.js'
import { resample } from './resample.js'
import type { SpeechPair } from './speech-pairs.js'
import { srmr } from './srmr.js'

const RATE = 48_000

/** A sound against the dry one. */
export type RoomScore = Likeness & { readonly srmr: number }

export interface RoomCase {
  readonly t60Sec: number
  /** Level of pink noise under the voice, or null for none. */
  readonly snrDb: number | null
}

/** The engine as it is, and without the correction of faults. */
export async function loadRoomEngines(): Promise<readonly [VoiceEngine, VoiceEngine]> {
  const settings = evidenceSettings.parse({})
  return [await createEmbeddedEngine(settings, new BlendedGain(BIN_HZ, false)), await createEmbeddedEngine(settings)]
}

/** Puts clean speech into a made room: the score there, and of each engine. */
export async function judgeRoom(
  pair: SpeechPair,
  { t60Sec, snrDb }: RoomCase,
  engines: readonly VoiceEngine[],
): Promise<RoomScore[]> {
  const { clean, sampleRate } = pair
  const echoing = inRoom(clean, { t60Sec, sampleRate, seed: clean.length })
  const noise = makeNoise('pink', clean.length, { sampleRate, seed: 3, others: [] })
  const heard = snrDb === null ? echoing : mixAt(snrDb, echoing, noise)
  const scores = [scoreOf(pair, heard)]
  for (const engine of engines) {
    const wide = new Float32Array(resample(heard, sampleRate, RATE))
    const { channels } = await engine.regenerate({ channels: [wide], innerStart: 0, innerEnd: wide.length })
    scores.push(scoreOf(pair, resample(channels[0] ?? wide, RATE, sampleRate).slice(0, clean.length)))
  }
  return scores
}

function scoreOf(pair: SpeechPair, sound: Float32Array): RoomScore {
  return { ...judgeSound(pair, sound), srmr: srmr(sound, pair.sampleRate) }
}
