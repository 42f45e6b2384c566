import type { PageExchange } from '../../../src/pages/page-server.js'
import type { ComparisonStore } from '../../../src/pipeline/report/comparison-store.js'
import type { LiveFeed } from './live-feed.js'
import type { OperatorView } from './operator-view.js'
import type { ProgressBoard } from './progress-board.js'

/** The parts that build every response. */
export interface DashboardParts {
  readonly view: OperatorView
  readonly progress: ProgressBoard
  readonly feed: LiveFeed
  readonly comparisons: ComparisonStore
  /** Prometheus text of all metrics, with its content type. */
  readonly metrics: { readonly contentType: string; metrics(): Promise<string> }
}

/** A request that passed the guard, and its response. */
export type DashboardExchange = DashboardParts & PageExchange
