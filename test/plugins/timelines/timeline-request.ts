import type { TimelineRequest } from '../../../plugins/timelines/index.js'
import { requestFor } from '../../helpers/test-pipeline.js'

/** A request for a timeline with the transparent recipe, but for what is given. */
export function timelineRequest(input: string, more: Partial<TimelineRequest> = {}): TimelineRequest {
  return {
    ...{ input, output: undefined, cwd: process.cwd(), mediaRoots: [], frameRate: null, exclude: [], trimSec: 0 },
    settings: requestFor(input).settings,
    ...more,
  }
}
