import type { MediaInfo, SampleRange } from '../../src/media/index.js'
import type { JobPlan, PlanRequest } from '../../src/pipeline/plan/plan-job.js'
import type { Bundle } from './bundles/bundle.js'
import type { TimelineFile } from './read-timeline.js'
import type { Rational } from './time/rational.js'
import type { ClipUse, Timeline, TimelineNote } from './timeline.js'

/** Options for a timeline. */
export interface TimelineRequest extends Pick<PlanRequest, 'cwd' | 'settings'> {
  /** Absolute path of the timeline. */
  readonly input: string
  /** `-o` as typed: a folder for the new media and the timeline, or the new timeline's file. */
  readonly output: string | undefined
  /** Folders that are searched, with all below, for media that do not lie where the timeline says. */
  readonly mediaRoots: readonly string[]
  /** Frame rate of an edit decision list; null: that of its media. */
  readonly frameRate: Rational | null
  /** Clips or files that are left as they are, with `*` and `?`. */
  readonly exclude: readonly string[]
  /** So much more is regenerated on either side of what is used: room to trim in. */
  readonly trimSec: number
}

/** One file that the cut uses, and what is done about it. */
export interface PlannedSource {
  readonly media: MediaInfo
  /** Heard in the cut, joined. */
  readonly used: readonly SampleRange[]
  /** Regenerated: the same, what lies between ranges whose handles would meet, and what an earlier cut regenerated. */
  readonly regenerated: readonly SampleRange[]
  readonly sampleRate: number
  readonly usedSec: number
  /** Length of the audio that will be sent, without parts that an earlier cut regenerated; null if unknown. */
  readonly paidSec: number | null
  readonly sendBytes: number
  readonly request: PlanRequest
  readonly job: JobPlan
  /** Ids of the timeline's sources that are this file. */
  readonly sourceIds: readonly string[]
  /** Clips that are regenerated. */
  readonly uses: readonly ClipUse[]
}

/** Everything that is decided about a timeline before anything is sent or written. */
export interface TimelinePlan {
  readonly request: TimelineRequest
  readonly file: TimelineFile
  readonly timeline: Timeline
  /** The media that the timeline file contains; null if it only links them. The caller releases it. */
  readonly bundle: Bundle | null
  readonly sources: readonly PlannedSource[]
  /** Path of the new timeline. */
  readonly output: string
  readonly clips: number
  /** Seconds that are heard; of the files that they come from; and that will be sent, handles included. */
  readonly usedSec: number
  readonly shotSec: number
  readonly paidSec: number | null
  readonly sendBytes: number
  readonly notes: readonly TimelineNote[]
}
