import type { SubjectTrack } from './subject.js'

const languageNames = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })

/** ISO 639-2 codes of media in their bibliographic form, which Intl does not support. */
const BIBLIOGRAPHIC: Readonly<Record<string, string>> = {
  alb: 'sq',
  arm: 'hy',
  baq: 'eu',
  bur: 'my',
  chi: 'zh',
  cze: 'cs',
  dut: 'nl',
  fre: 'fr',
  geo: 'ka',
  ger: 'de',
  gre: 'el',
  ice: 'is',
  mac: 'mk',
  mao: 'mi',
  may: 'ms',
  per: 'fa',
  rum: 'ro',
  slo: 'sk',
  tib: 'bo',
  wel: 'cy',
}

/** Returns `English` for `eng`, `German` for `ger`, and an unknown code as it is. */
function describeLanguage(code: string): string {
  try {
    return languageNames.of(BIBLIOGRAPHIC[code] ?? code) ?? code
  } catch {
    return code
  }
}

/** `mono`, `stereo`, `5.1`, `6 channels`. */
export function describeChannels(track: Pick<SubjectTrack, 'channels' | 'channelLayout'>): string {
  if (track.channels === 1) return 'mono'
  if (track.channels === 2) return 'stereo'
  return track.channelLayout?.replace(/\(.*\)$/, '') ?? `${track.channels} channels`
}

/** `English stereo "Director's commentary" (default)`. */
function describeTrack(track: SubjectTrack): string {
  const parts = [
    track.language === null ? null : describeLanguage(track.language),
    describeChannels(track),
    track.title === null ? null : `"${track.title}"`,
    track.isDefault ? '(default)' : null,
  ]
  return parts.filter((part) => part !== null).join(' ')
}

/** Returns `0 English stereo, 1 German 5.1`, numbered like `--track`. */
export function describeTracks(tracks: readonly SubjectTrack[]): string {
  return tracks.map((track) => `${track.audioIndex} ${describeTrack(track)}`).join(', ')
}

/** `48 kHz`, `44.1 kHz`, `10 Hz`. */
export function describeRate(sampleRate: number): string {
  if (sampleRate < 1000) return `${sampleRate} Hz`
  return `${Math.round(sampleRate / 10) / 100} kHz`
}

/** Formats a size for people: `1.5 GB`, `20 MB`, `800 bytes`. */
export function describeBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** power
  return `${power === 0 ? value : Number(value.toPrecision(3))} ${units[power]}`
}

/** Formats a duration for people: `20 ms`, `3.2 s`, `1 h 02 min`. */
export function describeDuration(sec: number): string {
  if (sec < 1) return `${Math.round(sec * 1000)} ms`
  if (sec < 120) return `${Math.round(sec * 10) / 10} s`
  const minutes = Math.floor(sec / 60)
  if (minutes < 60) return `${minutes} min ${String(Math.floor(sec % 60)).padStart(2, '0')} s`
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
}
