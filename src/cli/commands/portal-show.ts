import { redactUrl } from '../../core/redact.js'
import { DAY_MS } from '../../core/time.js'
import type { WebhookTarget } from '../../service/index.js'
import { accountUser, type PortalAction, textTable } from './portal-action.js'

/** Time that `usage` looks back. Records of files are kept for longer. */
export const USAGE_DAYS = 30

/** `voxmux portal show` and `voxmux portal usage` */
export const SHOW_ACTIONS: Readonly<Record<string, PortalAction>> = {
  show: async (request) => {
    const { portal, output, account } = request
    const user = await accountUser(request)
    const { tenantId, scope, serviceId } = portal.identity
    const keys = (await portal.keys.list()).filter((key) => key.userId === user.id && key.revokedMs === null)
    const target = shownTarget(await portal.webhooks.of(user.id))
    output.event({
      event: 'portal',
      tenant_id: tenantId,
      scope,
      serviceId,
      account,
      userId: user.id,
      creditsSec: user.creditsSec,
      keys: keys.map(({ clientId, name, expiresMs }) => ({ client_id: clientId, name, expiresMs })),
      webhook: target,
    })
    const secret = target?.hasSecret ? `secret in the ${target.secretPosition}` : 'no secret'
    output.print(
      textTable([
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

  usage: async (request) => {
    const { portal, output, account } = request
    const user = await accountUser(request)
    const usage = await portal.accounts.usage(user.id, Date.now() - USAGE_DAYS * DAY_MS)
    output.event({ event: 'usage', account, days: USAGE_DAYS, ...usage, creditsSec: user.creditsSec })
    output.print(
      textTable([
        ['account', account],
        [`files in ${USAGE_DAYS} days`, String(usage.files)],
        ['of these failed', String(usage.failed)],
        ['sound charged', `${usage.chargedSec} s`],
        ['credits left', user.creditsSec === null ? 'unlimited' : `${user.creditsSec} s`],
      ]),
    )
  },
}

/** Webhook settings without secrets. The query of an address may contain a password. */
export function shownTarget(target: WebhookTarget | undefined) {
  if (!target) return null
  const { url, method, secretPosition, secret } = target
  return { url: redactUrl(url), method, secretPosition, hasSecret: secret !== null }
}
