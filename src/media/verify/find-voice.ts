import { windowsMediaFrame } from '../probe/frame-times.js'
import type { MuxedVoice } from '../write/remux/mux.js'
import { type SyncPlace, type SyncPlaceName, syncReach } from '../write/remux/sync-reference.js'
import { errorPower } from '../write/splice/measure-joint.js'
import { findBlock } from './find-block.js'
import { SyncWindows } from './sync-windows.js'

/** New audio as decoded from the output. */
export interface TrackReadBack {
  readonly audioIndex: number
  /** Counted from the input's zero in the output. */
  readonly sampleCount: number
  readonly places: readonly SyncPlace[]
  /** Places at which the decoded audio does not resemble the audio that was fed. */
  readonly lost: readonly SyncPlaceName[]
  /** Samples of the clock at which a changed part does not come back as it was encoded. */
  readonly unlike: readonly number[]
}

/** The windows of all blocks and probes, at the places where the output must have them. */
export function windowsOf(voice: MuxedVoice, moved: number): SyncWindows {
  const around = 2 * syncReach(voice.format.sampleRate)
  return new SyncWindows([
    ...voice.syncSamples.map(({ atSample, values }) => ({
      from: atSample + moved,
      length: Math.max(0, values.length - around),
    })),
    ...probesOf(voice).map(({ atSample, values }) => ({ from: atSample + moved, length: values.length })),
  ])
}

/** Finds a voice in what was decoded. @param moved samples by which the picture moved against the file's zero */
export function findVoice(windows: SyncWindows, voice: MuxedVoice, moved: number, codec?: string): TrackReadBack {
  const sampleCount = windows.sampleCount - moved
  // ffmpeg decodes the last frame of Windows Media without the one that overlaps it.
  const whole = sampleCount - (codec?.startsWith('wmav') ? windowsMediaFrame(voice.format.sampleRate) : 0)
  // A decoder returns more than the track states, and a voice may have sound there.
  const stated = voice.splice?.kind === 'spliced' ? whole : Math.min(whole, voice.sampleCount)
  const found = voice.syncSamples.map((sample, place) => {
    const decoded = windows.window(place).subarray(0, Math.max(0, stated - sample.atSample))
    return findBlock(voice, sample, Float64Array.from(decoded), codec)
  })
  return {
    audioIndex: voice.audioIndex,
    sampleCount,
    places: found.map(({ place }) => place),
    lost: found.flatMap(({ place, isLost }) => (isLost ? [place.at] : [])),
    unlike: unlikeProbes(voice, windows),
  }
}

function probesOf({ splice }: MuxedVoice) {
  return splice?.kind === 'spliced' ? splice.probes : []
}

function unlikeProbes(voice: MuxedVoice, windows: SyncWindows): readonly number[] {
  return probesOf(voice).flatMap(({ atSample, values, mostError }, place) =>
    // NaN fails.
    errorPower(values, windows.window(voice.syncSamples.length + place)) <= mostError ? [] : [atSample],
  )
}
