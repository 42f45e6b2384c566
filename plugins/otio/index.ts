/** Timelines: only what a cut plays is regenerated, and a new timeline plays it. */
export { frameRate } from './frame-rate.js'
export { planTimeline, sentence } from './plan-timeline.js'
export { type RegenerateOptions, regenerateTimeline, type TimelineOutcome } from './regenerate-timeline.js'
export { NOTE_KINDS, type TimelineNote } from './timeline.js'
export type { PlannedSource, TimelinePlan, TimelineRequest } from './timeline-plan.js'
