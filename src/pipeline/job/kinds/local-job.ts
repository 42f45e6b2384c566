import type { PipelineContext } from '../../context.js'
import type { PlanRequest } from '../../plan/plan-job.js'
import type { JobKind } from '../job-life.js'
import { fileJob } from './file-job.js'
import { previewJob } from './preview-job.js'

/** A job on a local file, or on a preview of it. */
export function localJob(request: PlanRequest, context: PipelineContext): JobKind {
  const { previewSec } = request.settings
  return previewSec === null ? fileJob(request, context) : previewJob(request, previewSec, context)
}
