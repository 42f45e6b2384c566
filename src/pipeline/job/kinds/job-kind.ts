import type { PipelineContext } from '../../context.js'
import type { PlanRequest } from '../../plan/plan-job.js'
import { isWebAddress } from '../../web-address.js'
import type { JobKind } from '../job-life.js'
import { localJob } from './local-job.js'
import { remoteJob } from './remote-job.js'
import { webJob } from './web-job.js'

/** The kind of job for a request. */
export function jobKindOf(request: PlanRequest, context: PipelineContext): JobKind {
  if (request.remote) return remoteJob(request, context)
  return isWebAddress(request.input) ? webJob(request, context) : localJob(request, context)
}
