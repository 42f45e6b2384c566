import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ComparisonStore } from './comparison-store.js'
import type { LiveFeed } from './live-feed.js'
import type { OperatorView } from './operator-view.js'
import type { PageFile } from './page-files.js'
import type { ProgressBoard } from './progress-board.js'

/** The parts that build every response. */
export interface DashboardParts {
  readonly view: OperatorView
  readonly progress: ProgressBoard
  readonly feed: LiveFeed
  readonly comparisons: ComparisonStore
  readonly files: ReadonlyMap<string, PageFile>
  readonly token: string
  /** Prometheus text of all metrics, with its content type. */
  readonly metrics: { readonly contentType: string; metrics(): Promise<string> }
}

/** A request that passed the guard, and its response. */
export interface DashboardExchange extends DashboardParts {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly query: URLSearchParams
  /** Groups of the route's pattern. */
  readonly groups: Readonly<Record<string, string>>
}
