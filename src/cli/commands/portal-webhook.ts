import { text } from 'node:stream/consumers'
import { LIMITS } from '../../contract/index.js'
import { PrivateAddressError, requirePublicAddress } from '../../core/address-guard.js'
import { UsageError } from '../../core/errors.js'
import { redactUrl } from '../../core/redact.js'
import type { WebhookTarget } from '../../service/index.js'
import { accountUser, type PortalAction, required, textTable } from './portal-action.js'

/** `voxmux portal webhook …` */
export const WEBHOOK_ACTIONS: Readonly<Record<string, PortalAction>> = {
  'webhook set': async (request) => {
    const { portal, output, method, secretPosition } = request
    const target: WebhookTarget = {
      url: required(request.url, '--url'),
      method,
      secretPosition,
      // A flag would show the secret in the process list.
      secret: request.secretStdin ? await secretFromStdin() : null,
    }
    await portal.webhooks.set((await accountUser(request)).id, target)
    const hasSecret = target.secret !== null
    output.event({ event: 'webhook', url: redactUrl(target.url), method, secretPosition, hasSecret })
    const secret = hasSecret ? `, with the secret in the ${secretPosition}` : ', without a secret'
    output.print(`Webhooks are sent to ${method} ${redactUrl(target.url)}${secret}.`)
    const warning = await guardWarning(target.url)
    if (warning !== null) output.note(`! ${warning}`)
  },

  'webhook clear': async (request) => {
    await request.portal.webhooks.set((await accountUser(request)).id, null)
    request.output.event({ event: 'webhook', url: null })
    request.output.print('Webhooks are switched off.')
  },

  'webhook log': async ({ portal, output, limit }) => {
    const entries = await portal.deliveries.latest(count(limit))
    for (const entry of entries) output.event({ ...entry, event: 'delivery' })
    const rows = entries.map((entry) => [
      String(entry.id),
      new Date(entry.atMs).toISOString(),
      entry.outcome,
      `try ${entry.attempt}`,
      entry.type,
      entry.status,
      entry.fileId,
      entry.detail,
    ])
    output.print(rows.length === 0 ? 'No webhook has been sent yet.' : textTable(rows))
  },

  'webhook redeliver': async ({ portal, output, subject }) => {
    const id = Number(required(subject, 'The id of a delivery'))
    if (!Number.isSafeInteger(id))
      throw new UsageError('ERR_USAGE', `The id of a delivery is a number, not ${JSON.stringify(subject)}.`, {
        remedies: ['List the deliveries: voxmux portal webhook log'],
      })
    await portal.outbox.redeliver(id)
    output.event({ event: 'redelivery', id })
    output.print('The webhook is queued again. The log shows its delivery.')
  },
}

/** Warns of an address that the guard of the service refuses. Null for a name that only its machine may know. */
export async function guardWarning(url: string): Promise<string | null> {
  try {
    await requirePublicAddress(new URL(url))
  } catch (error) {
    if (error instanceof PrivateAddressError)
      return `${redactUrl(url)} is outside the public internet. Start the service with \`voxmux serve --allow-private-urls\`, or it will not call this address.`
  }
  return null
}

async function secretFromStdin(): Promise<string> {
  const secret = (await text(process.stdin)).replace(/\r?\n$/, '')
  if (secret.length > 0 && secret.length <= LIMITS.webhookSecretMaxChars) return secret
  throw new UsageError('ERR_USAGE', `A secret has 1 to ${LIMITS.webhookSecretMaxChars} characters.`)
}

function count(limit: string): number {
  if (/^[1-9]\d{0,5}$/.test(limit)) return Number(limit)
  throw new UsageError('ERR_USAGE', `--limit takes a number of lines, not ${limit}.`)
}
