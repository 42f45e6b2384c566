import FFT from 'fft.js'
import { randomSource } from '../../helpers/sound/made-speech.js'

export interface Room {
  /** Time in which the echo falls by 60 dB. */
  readonly t60Sec: number
  readonly sampleRate: number
  readonly seed: number
}

/** Volume of the room, and distance of the microphone: a living room, one metre. */
const VOLUME_M3 = 60
const DISTANCE_M = 1
/** First reflections arrive so long after the direct sound. */
const FIRST_SEC = 0.004

/** A sound in a made room: as long as the sound, and in its place. The same seed, the same room. */
export function inRoom(sound: Float32Array, room: Room): Float32Array<ArrayBuffer> {
  return convolved(sound, responseOf(room))
}

/**
 * The response of a room: the direct sound, then noise that decays exponentially (Polack's model). The echo is as
 * loud as Sabine's law has it for the room's volume and the distance.
 */
function responseOf({ t60Sec, sampleRate, seed }: Room): Float32Array<ArrayBuffer> {
  const random = randomSource(seed)
  const response = new Float32Array(Math.ceil(1.1 * t60Sec * sampleRate))
  const from = Math.round(FIRST_SEC * sampleRate)
  let power = 0
  for (let i = from; i < response.length; i++) {
    const value = (random() + random() + random()) * 10 ** ((-3 * (i - from)) / (t60Sec * sampleRate))
    response[i] = value
    power += value * value
  }
  const wanted = (DISTANCE_M ** 2 * t60Sec) / (0.057 ** 2 * VOLUME_M3)
  const gain = Math.sqrt(wanted / power)
  for (let i = 0; i < response.length; i++) response[i] = (response[i] ?? 0) * gain
  response[0] = 1
  return response
}

/** A sound behind a response, as long as the sound. */
function convolved(sound: Float32Array, response: Float32Array): Float32Array<ArrayBuffer> {
  const size = 2 ** Math.ceil(Math.log2(sound.length + response.length))
  const fft = new FFT(size)
  const [a, b] = [sound, response].map((samples) => {
    const [padded, spectrum] = [new Float64Array(size), new Float64Array(2 * size)]
    padded.set(samples)
    fft.realTransform(spectrum, padded)
    fft.completeSpectrum(spectrum)
    return spectrum
  }) as [Float64Array, Float64Array]
  const product = new Float64Array(2 * size)
  for (let i = 0; i < product.length; i += 2) {
    const [re = 0, im = 0, otherRe = 0, otherIm = 0] = [a[i], a[i + 1], b[i], b[i + 1]]
    product[i] = re * otherRe - im * otherIm
    product[i + 1] = re * otherIm + im * otherRe
  }
  const samples = new Float64Array(2 * size)
  fft.inverseTransform(samples, product)
  return Float32Array.from({ length: sound.length }, (_, i) => samples[2 * i] ?? 0)
}
