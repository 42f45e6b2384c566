import type { ApiKey, NewApiKey } from '../../service/index.js'
import { accountUser, dayOf, type PortalAction, type PortalRequest, required, textTable } from './portal-action.js'

/** `voxmux portal keys …` */
export const KEY_ACTIONS: Readonly<Record<string, PortalAction>> = {
  'keys create': async (request) => {
    const name = required(request.name, '--name')
    showSecret(request, await request.portal.keys.create((await accountUser(request)).id, name))
  },

  'keys list': async ({ portal, output }) => {
    const keys = await portal.keys.list()
    const names = new Map((await portal.accounts.list()).map((user) => [user.id, user.name]))
    for (const key of keys) output.event({ event: 'key', ...shownKey(key), account: names.get(key.userId) ?? null })
    const rows = keys.map((key) => [
      key.clientId,
      key.name,
      names.get(key.userId) ?? '',
      dayOf(key.createdMs),
      key.revokedMs === null ? dayOf(key.expiresMs) : `revoked ${dayOf(key.revokedMs)}`,
    ])
    const none = 'There are no keys yet. Create one: voxmux portal keys create --name NAME'
    output.print(
      rows.length === 0 ? none : textTable([['client id', 'name', 'account', 'created', 'good until'], ...rows]),
    )
  },

  'keys regenerate': async (request) =>
    showSecret(request, await request.portal.keys.regenerate(required(request.subject, 'The client id'))),

  'keys revoke': async ({ portal, output, subject }) => {
    const key = await portal.keys.revoke(required(subject, 'The client id'))
    output.event({ event: 'key', ...shownKey(key) })
    output.print(`${key.name} (${key.clientId}) is revoked. Neither the key nor its tokens work any longer.`)
  },

  'keys rotate': async ({ portal, output }) => {
    const { kid } = await portal.signingKeys.replace()
    output.event({ event: 'signing-key', kid })
    output.print(
      `New tokens are signed with a new key (${kid}). Existing tokens stay valid until they expire, within an hour.`,
    )
  },
}

function showSecret({ portal, output }: PortalRequest, key: NewApiKey): void {
  const { tenantId, scope } = portal.identity
  output.event({ event: 'key', ...shownKey(key), client_secret: key.clientSecret, tenant_id: tenantId, scope })
  output.print(`${key.name}, valid until ${dayOf(key.expiresMs)}. The secret is shown only once:

export VOXMUX_TENANT_ID=${tenantId}
export VOXMUX_CLIENT_ID=${key.clientId}
export VOXMUX_CLIENT_SECRET=${key.clientSecret}
export VOXMUX_SCOPE=${scope}`)
}

/** A key without its secret. */
export function shownKey({ clientId, name, createdMs, expiresMs, revokedMs }: ApiKey) {
  return { client_id: clientId, name, createdMs, expiresMs, revokedMs }
}
