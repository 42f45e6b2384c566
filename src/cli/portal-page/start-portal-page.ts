import { randomBytes } from 'node:crypto'
import { readPageFiles } from '../../pages/page-files.js'
import { type PageServer, startPageServer } from '../../pages/page-server.js'
import type { Portal } from '../../service/index.js'
import { PORTAL_ROUTES } from './portal-routes.js'

const PAGE = 'src/cli/portal-page/page/'

/** Serves the portal on this machine. Reading needs the token in its address. @throws {UsageError} `ERR_PORT_TAKEN` */
export function startPortalPage(portal: Portal, port: number): Promise<PageServer> {
  return startPageServer({
    ...{ name: 'portal', routes: PORTAL_ROUTES, files: readPageFiles(PAGE), parts: { portal } },
    ...{ token: randomBytes(32).toString('base64url'), guardsReading: true, port },
  })
}
