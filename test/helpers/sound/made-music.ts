import { randomSource } from './made-speech.js'

const RATE = 48_000
/** A beat at 110 a minute, and a bar of four. */
const BEAT_SEC = 60 / 110
/** The chords of the bars, in semitones above A3 (220 Hz): A minor, F, C, G. */
const CHORDS = [
  [0, 3, 7, 12],
  [-4, 0, 3, 8],
  [3, 7, 10, 15],
  [-2, 2, 5, 10],
]

/** Music that can be made anywhere. `chord` is one chord that is held, and `pop` all of the others with a melody. */
export const MUSIC_KINDS = ['chord', 'chords', 'drums', 'pop'] as const
export type MusicKind = (typeof MUSIC_KINDS)[number]

/** Mono music of so many samples at 48 kHz, of no particular level. */
export function madeMusic(kind: MusicKind, length: number): Float32Array<ArrayBuffer> {
  switch (kind) {
    case 'chord':
      return sounding(length, (sec) => chordAt(CHORDS[0] ?? [], sec))
    case 'chords':
      return sounding(length, chords)
    case 'drums':
      return drums(length)
    case 'pop': {
      const beat = drums(length)
      return sounding(length, (sec, i) => chords(sec) + 0.7 * melody(sec) + 0.8 * bass(sec) + (beat[i] ?? 0))
    }
    default:
      return kind satisfies never
  }
}

const hzOf = (semitones: number) => 220 * 2 ** (semitones / 12)

function sounding(length: number, value: (sec: number, i: number) => number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length }, (_, i) => value(i / RATE, i))
}

/** A tone with overtones. */
function tone(hz: number, sec: number, overtones: number): number {
  let value = 0
  for (let k = 1; k <= overtones; k++) value += Math.sin(2 * Math.PI * k * hz * sec + k) / k
  return value
}

function chordAt(semitones: readonly number[], sec: number): number {
  return semitones.reduce((sum, semitone) => sum + tone(hzOf(semitone), sec, 6), 0) / 4
}

/** A chord a bar, played on every second beat. */
function chords(sec: number): number {
  const bar = Math.floor(sec / (4 * BEAT_SEC))
  const sinceStroke = sec % (2 * BEAT_SEC)
  const level = Math.min(1, sinceStroke / 0.02) * Math.exp(-sinceStroke / 0.9)
  return level * chordAt(CHORDS[bar % CHORDS.length] ?? [], sec)
}

function bass(sec: number): number {
  const bar = Math.floor(sec / (4 * BEAT_SEC))
  return Math.exp(-(sec % BEAT_SEC) / 0.4) * tone(hzOf((CHORDS[bar % CHORDS.length]?.[0] ?? 0) - 24), sec, 4)
}

/** Notes of a beat's length with a vibrato. */
function melody(sec: number): number {
  const beat = Math.floor(sec / BEAT_SEC)
  const semitone = [12, 15, 19, 15, 12, 10, 8, 10][beat % 8] ?? 12
  const inBeat = (sec % BEAT_SEC) / BEAT_SEC
  const turns = sec + 0.00015 * Math.sin(2 * Math.PI * 5.5 * sec)
  return Math.sin(Math.PI * Math.min(1, 1.1 * inBeat)) * tone(hzOf(semitone), turns, 3)
}

/** A bass drum, a snare and a hi-hat. */
function drums(length: number): Float32Array<ArrayBuffer> {
  const random = randomSource(77)
  let last = 0
  return sounding(length, (sec) => {
    const noise = random()
    const bright = noise - last
    last = noise
    const sinceKick = sec % (2 * BEAT_SEC)
    const sinceSnare = (sec + BEAT_SEC) % (2 * BEAT_SEC)
    const sinceHat = sec % (BEAT_SEC / 2)
    const kick =
      Math.exp(-sinceKick / 0.09) * Math.sin(2 * Math.PI * (55 * sinceKick - 3 * Math.exp(-sinceKick / 0.03)))
    const snare = Math.exp(-sinceSnare / 0.07) * (0.6 * noise + 0.5 * Math.sin(2 * Math.PI * 190 * sinceSnare))
    return 1.2 * kick + 0.8 * snare + 0.25 * Math.exp(-sinceHat / 0.03) * bright
  })
}
