import { redactUrl } from '../../core/redact.js'
import { accountUser, type PortalAction, table } from './portal-action.js'

/** `voxmux portal show` */
export const SHOW_ACTIONS: Readonly<Record<string, PortalAction>> = {
  show: async (request) => {
    const { portal, output, account } = request
    const user = await accountUser(request)
    const { tenantId, scope, serviceId } = portal.identity
    const keys = (await portal.keys.list()).filter((key) => key.userId === user.id && key.revokedMs === null)
    const webhook = await portal.webhooks.of(user.id)
    const target = webhook && {
      // The query may contain a password.
      url: redactUrl(webhook.url),
      method: webhook.method,
      secretPosition: webhook.secretPosition,
      hasSecret: webhook.secret !== null,
    }
    output.event({
      event: 'portal',
      tenant_id: tenantId,
      scope,
      serviceId,
      account,
      userId: user.id,
      creditsSec: user.creditsSec,
      keys: keys.map(({ clientId, name, expiresMs }) => ({ client_id: clientId, name, expiresMs })),
      webhook: target ?? null,
    })
    const secret = target?.hasSecret ? `secret in the ${target.secretPosition}` : 'no secret'
    output.print(
      table([
        ['tenant id', tenantId],
        ['scope', scope],
        ['account', account],
        ['user id', user.id],
        ['credits', user.creditsSec === null ? 'unlimited' : `${user.creditsSec} s`],
        ...keys.map(({ clientId, name }) => ['client id', `${clientId}  (${name})`]),
        ['webhooks', target ? `${target.method} ${target.url}, ${secret}` : 'none'],
      ]),
    )
  },
}
