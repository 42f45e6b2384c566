import { planTimeline, regenerateTimeline, type TimelineRequest } from '../../../plugins/timelines/index.js'
import type { PipelineContext } from '../../../src/pipeline/context.js'
import { requestFor } from '../../helpers/test-pipeline.js'

/** A request for a timeline with the transparent recipe, but for what is given. */
export function timelineRequest(input: string, more: Partial<TimelineRequest> = {}): TimelineRequest {
  return {
    ...{ input, output: undefined, cwd: process.cwd(), mediaRoots: [], frameRate: null, exclude: [], trimSec: 0 },
    settings: requestFor(input).settings,
    ...more,
  }
}

/** Plans and regenerates a timeline. */
export async function regenerated(input: string, context: PipelineContext, more: Partial<TimelineRequest> = {}) {
  const plan = await planTimeline(timelineRequest(input, more), {})
  return { plan, outcome: await regenerateTimeline(plan, context, { concurrency: 1 }) }
}
