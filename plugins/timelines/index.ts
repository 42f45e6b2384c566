/** Timelines: only what a cut plays is regenerated, and a new timeline plays it. */

export { planTimeline, sentence } from './plan-timeline.js'
export {
  type RegenerateTimelineOptions,
  regenerateTimeline,
  requireTimelineTarget,
  type TimelineOutcome,
} from './regenerate-timeline.js'
export { frameRate } from './time/frame-rate.js'
export { NOTE_KINDS, type TimelineNote } from './timeline.js'
export type { PlannedSource, TimelinePlan, TimelineRequest } from './timeline-plan.js'
export { mediaOfTimeline } from './timeline-receipt.js'
