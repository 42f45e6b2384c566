import { portNumber } from '../arguments/port-number.js'
import { interrupted } from '../interruption.js'
import { startPortalPage } from '../portal-page/start-portal-page.js'
import type { PortalAction } from './portal-action.js'

/** `voxmux portal page` */
export const PAGE_ACTIONS: Readonly<Record<string, PortalAction>> = {
  page: async ({ portal, output, port, signal }) => {
    const page = await startPortalPage(portal, portNumber(port))
    try {
      output.event({ event: 'page', url: page.url })
      output.print(`The portal is at ${page.url}\nThe address contains a secret of this start. Press Ctrl-C to stop.`)
      await interrupted(signal)
    } finally {
      await page.close()
    }
  },
}
