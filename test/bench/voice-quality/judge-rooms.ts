import type { VoicePool } from '../../../src/voice/index.js'
import { judgeSound, type Likeness, through } from './judge-voice.js'
import { makeNoise, mixAt } from './made-noise.js'
import { inRoom } from './made-rooms.js'
import type { SpeechPair } from './speech-pairs.js'
import { srmr } from './srmr.js'

/** A sound against the dry one. */
export type RoomScore = Likeness & { readonly srmr: number }

export interface RoomCase {
  readonly t60Sec: number
  /** Level of pink noise under the voice, or null for none. */
  readonly snrDb: number | null
}

/** Puts clean speech into a made room: the score there, and behind the engine. */
export async function judgeRoom(pair: SpeechPair, { t60Sec, snrDb }: RoomCase, pool: VoicePool): Promise<RoomScore[]> {
  const { clean, sampleRate } = pair
  const echoing = inRoom(clean, { t60Sec, sampleRate, seed: clean.length })
  const noise = makeNoise('pink', clean.length, { sampleRate, seed: 3, others: [] })
  const heard = snrDb === null ? echoing : mixAt(snrDb, echoing, noise)
  return [scoreOf(pair, heard), scoreOf(pair, await through(heard, sampleRate, pool))]
}

function scoreOf(pair: SpeechPair, sound: Float32Array): RoomScore {
  return { ...judgeSound(pair, sound), srmr: srmr(sound, pair.sampleRate) }
}
