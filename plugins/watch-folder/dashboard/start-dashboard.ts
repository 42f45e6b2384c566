import { randomBytes } from 'node:crypto'
import { toVoxmuxError } from '../../../src/core/errors.js'
import { silentLogger } from '../../../src/core/logger.js'
import { readPageFiles } from '../../../src/pages/page-files.js'
import { type PageServer, type PageServerOptions, startPageServer } from '../../../src/pages/page-server.js'
import { ComparisonStore } from '../../../src/pipeline/report/comparison-store.js'
import type { DashboardParts } from './dashboard-exchange.js'
import { LiveFeed } from './live-feed.js'
import type { OperatorView } from './operator-view.js'
import { progressBoard } from './progress-board.js'
import { ROUTES } from './routes.js'

export interface DashboardOptions extends Pick<PageServerOptions<never>, 'host' | 'port' | 'hosts' | 'logger'> {
  readonly view: OperatorView
  readonly metrics: DashboardParts['metrics']
  /** Folder for players and pictures, created when it is needed. */
  readonly comparisonFolder: string
}

const PAGE = 'plugins/watch-folder/dashboard/page/'

/** Serves the page, health checks and metrics. @throws {UsageError} `ERR_PORT_TAKEN` if it cannot bind */
export async function startDashboard(options: DashboardOptions): Promise<PageServer> {
  const { view, metrics, comparisonFolder, logger = silentLogger, ...place } = options
  const progress = progressBoard(view.daemon)
  const onFault = (fault: unknown) =>
    logger.warn({ cause: toVoxmuxError(fault).message }, 'The dashboard could not ask the store.')
  const feed = new LiveFeed({ view, progress, bootId: randomBytes(8).toString('hex'), onFault })
  const comparisons = new ComparisonStore(comparisonFolder)
  const { url, close } = await startPageServer({
    ...{ ...place, logger, name: 'dashboard', routes: ROUTES, files: readPageFiles(PAGE) },
    token: randomBytes(32).toString('base64url'),
    parts: { view, progress, feed, comparisons, metrics },
  })
  return {
    url,
    close: async () => {
      feed.close()
      progress.close()
      await comparisons.close()
      await close()
    },
  }
}
