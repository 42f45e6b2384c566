import { expect, it } from 'vitest'
import { renewedText } from '../../../../src/media/write/level/level-text.js'

const quieter = (gainDb: number) => ({ gainDb, peakRatio: 10 ** (-gainDb / 20) })

it.each([
  ['replaygain_track_gain', '-7.03 dB', 6.02, '-1.01 dB'],
  ['REPLAYGAIN_TRACK_GAIN', '-7.030000 dB', 6.02, '-1.010000 dB'],
  ['replaygain_track_gain', '+1.00 dB', -11.5, '-10.5 dB'],
  ['replaygain_track_gain', '1.00 dB', -2, '-1.0 dB'],
  ['replaygain_track_gain', '-10.25 dB', 12, '1.7500 dB'],
  ['replaygain_track_gain', '0.5', 9.49, '10'.padStart(3)],
  ['replaygain_track_gain', '-0.67', 0.67, '0.000'],
  ['replaygain_track_peak', '0.988553', 6.02, '0.494311'],
  ['R128_TRACK_GAIN', '-01234', 2, '-00722'],
  ['R128_TRACK_GAIN', '-00256', 2, '000256'],
  ['R128_TRACK_GAIN', '+30000', 20, '+32767'],
  ['replaygain_track_peak', '0.5', -40, ' 50'],
])('gives %s %j at %f dB more gain as many characters: %j', (name, text, gainDb, expected) => {
  expect(renewedText(name, text, quieter(gainDb))).toBe(expected)
})

it.each([
  ['replaygain_track_gain', '-7 dB'],
  ['replaygain_track_gain', 'loud'],
  ['replaygain_track_peak', '1'],
  ['replaygain_track_range', '7.20 dB'],
  ['R128_TRACK_GAIN', '-300'],
  ['R128_TRACK_GAIN', '-300.5'],
  ['iTunNORM', ' 00000A21'],
  ['title', '-7.03 dB'],
])('renews no %s that states %j', (name, text) => {
  expect(renewedText(name, text, quieter(0))).toBeNull()
})
