import { z } from 'zod'

const figure = z.number().nullable()

/** Figures of one audio track by ffmpeg's meters. A figure is null if the track has too little sound for it. */
export const measuredSoundSchema = z.object({
  integratedLufs: figure.meta({ description: 'Integrated loudness (ITU-R BS.1770-4) in LUFS; null for silence.' }),
  rangeLu: figure.meta({ description: 'Loudness range (EBU Tech 3342); null for less than 30 s.' }),
  momentaryMaxLufs: figure.meta({ description: 'Highest loudness of 400 ms.' }),
  shortTermMaxLufs: figure.meta({ description: 'Highest loudness of 3 s; null for less sound.' }),
  truePeakDbtp: figure.meta({ description: 'Highest true peak of all channels; null for digital silence.' }),
  dialogueLufs: figure.meta({
    description: 'Loudness of the seconds with a voice, without a relative gate; null if the standard does not use it.',
  }),
  voiceShare: figure.meta({ description: 'Share of the seconds with a voice, 0 to 1; null if not measured.' }),
  silenceSec: z.number().meta({ description: 'Seconds of silence: below -60 dBFS for a second or more.' }),
  longestSilenceSec: z.number(),
  phase: figure.meta({ description: 'Mean correlation of two channels, -1 to 1; null for other channels than two.' }),
  outOfPhaseSec: figure.meta({ description: 'Seconds with a correlation below 0; null for other channels than two.' }),
})
export type MeasuredSound = Readonly<z.infer<typeof measuredSoundSchema>>

/** Blocks quieter than this never count (LUFS). */
const ABSOLUTE_GATE = -70
/** A frame has the loudness of the 400 ms that end with it. */
const FRAME_SEC = 0.1
const BEFORE_FRAME_SEC = 0.3
/** The loudness range needs this much sound. */
const LEAST_RANGE_FRAMES = 300
/** Below this correlation two channels oppose each other. */
const OPPOSED = 0
/** The summary is rounded to a tenth. The frames leave out the sound after the last full one. */
const ROUNDED_DB = 0.06

/**
 * Gathers the lines that `ebur128`, `silencedetect`, `aphasemeter` and `ametadata` print. A file can write lines
 * into ffmpeg's description of it, so only lines with the name of a filter count.
 */
export class SoundLines {
  readonly #voiced: readonly boolean[] | null
  readonly #startSec: number
  readonly #last = new Map<string, number>()
  #frameSec = 0
  #frames = 0
  #momentary = Number.NEGATIVE_INFINITY
  #shortTerm = Number.NEGATIVE_INFINITY
  #voicePower = 0
  #voiceFrames = 0
  #silenceSec = 0
  #longestSilenceSec = 0
  #phaseSum = 0
  #phaseFrames = 0
  #opposedFrames = 0
  #isSummary = false
  #summaryPeak: number | null = null

  /** @param voiced for each second of the file's clock; null if unknown @param startSec of the file's zero */
  constructor(voiced: readonly boolean[] | null, startSec: number) {
    this.#voiced = voiced
    this.#startSec = startSec
  }

  /** Takes a line of stderr. False if it is a message. */
  take(line: string): boolean {
    const [, filter, text] = /^\[(?:Parsed_)?([a-z0-9]+)(?:_\d+)? @ \w+\] \[info\] (.*)$/.exec(line) ?? []
    switch (filter) {
      case 'ametadata':
        this.#takeFrameLine(text ?? '')
        return true
      case 'silencedetect':
        this.#takeSilence(text ?? '')
        return true
      case 'ebur128':
        this.#isSummary ||= text === 'Summary:'
        return true
      default:
        return this.#isSummary && this.#takeSummaryLine(line)
    }
  }

  /** The figures of the track, once ffmpeg has ended. */
  result(): MeasuredSound {
    const voiced = this.#voiced
    const phases = this.#phaseFrames
    return {
      integratedLufs: audible(this.#last.get('r128.I')),
      rangeLu: this.#frames < LEAST_RANGE_FRAMES ? null : (this.#last.get('r128.LRA') ?? null),
      momentaryMaxLufs: audible(this.#momentary),
      shortTermMaxLufs: audible(this.#shortTerm),
      truePeakDbtp: this.#truePeakDbtp(),
      dialogueLufs: this.#voiceFrames === 0 ? null : lufs(this.#voicePower / this.#voiceFrames),
      voiceShare: voiced && voiced.length > 0 ? voiced.filter(Boolean).length / voiced.length : null,
      silenceSec: this.#silenceSec,
      longestSilenceSec: this.#longestSilenceSec,
      phase: phases === 0 ? null : this.#phaseSum / phases,
      outOfPhaseSec: phases === 0 ? null : this.#opposedFrames * FRAME_SEC,
    }
  }

  /** `frame:50 pts:240000 pts_time:5`, then a line for each figure of the frame. */
  #takeFrameLine(text: string): void {
    const [, time] = /^frame:.* pts_time:(\S+)$/.exec(text) ?? []
    if (time !== undefined) this.#frameSec = Number(time) - this.#startSec
    const [, key, figure] = /^lavfi\.([\w.]+)=(\S+)$/.exec(text) ?? []
    const value = Number(figure)
    if (key === undefined || Number.isNaN(value)) return
    this.#last.set(key, value)
    if (key === 'r128.M') this.#takeMomentary(value)
    if (key === 'r128.S') this.#shortTerm = Math.max(this.#shortTerm, value)
    if (key === 'aphasemeter.phase') {
      this.#phaseSum += value
      this.#phaseFrames++
      if (value < OPPOSED) this.#opposedFrames++
    }
  }

  #takeMomentary(value: number): void {
    this.#frames++
    this.#momentary = Math.max(this.#momentary, value)
    const second = (sec: number) => this.#voiced?.[Math.floor(sec)] ?? false
    // The end is just inside the frame, so that a block that ends with a second does not count for the next.
    const isVoice = second(this.#frameSec - BEFORE_FRAME_SEC) && second(this.#frameSec + FRAME_SEC - 0.001)
    if (!isVoice || value <= ABSOLUTE_GATE) return
    this.#voicePower += 10 ** ((value + 0.691) / 10)
    this.#voiceFrames++
  }

  #takeSilence(text: string): void {
    const [, duration] = /silence_duration: (\S+)$/.exec(text) ?? []
    if (duration === undefined) return
    this.#silenceSec += Number(duration)
    this.#longestSilenceSec = Math.max(this.#longestSilenceSec, Number(duration))
  }

  #takeSummaryLine(line: string): boolean {
    const [, peak] = /^ {4}Peak: +(\S+) dBFS$/.exec(line) ?? []
    if (peak === undefined) return false
    this.#summaryPeak = Number.isFinite(Number(peak)) ? Number(peak) : null
    return true
  }

  /** The frames are exact for loud peaks, and the summary covers the last samples too. */
  #truePeakDbtp(): number | null {
    const summary = this.#summaryPeak
    const exact = 20 * Math.log10(this.#last.get('r128.true_peak') ?? 0)
    return summary !== null && Math.abs(exact - summary) <= ROUNDED_DB ? exact : summary
  }
}

function audible(value: number | undefined): number | null {
  return value === undefined || value <= ABSOLUTE_GATE ? null : value
}

function lufs(power: number): number {
  return -0.691 + 10 * Math.log10(power)
}
