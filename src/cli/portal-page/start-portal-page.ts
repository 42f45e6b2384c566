import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { LIMITS, secretPositionSchema, webhookMethodSchema } from '../../contract/index.js'
import { UsageError } from '../../core/errors.js'
import { DAY_MS } from '../../core/time.js'
import { readPageFiles } from '../../pages/page-files.js'
import { type PageExchange, type PageServer, type Route, startPageServer } from '../../pages/page-server.js'
import { readJsonBody } from '../../pages/read-json-body.js'
import { sendJson } from '../../pages/respond.js'
import type { NewApiKey, Portal } from '../../service/index.js'
import { accountUser } from '../commands/portal-action.js'
import { shownKey } from '../commands/portal-keys.js'
import { shownTarget, USAGE_DAYS } from '../commands/portal-show.js'
import { guardWarning } from '../commands/portal-webhook.js'

const PAGE = 'src/cli/portal-page/page/'

/** Serves the portal on this machine. Reading needs the token in its address. @throws {UsageError} `ERR_PORT_TAKEN` */
export function startPortalPage(portal: Portal, port: number): Promise<PageServer> {
  return startPageServer({
    ...{ name: 'portal', routes: PORTAL_ROUTES, files: readPageFiles(PAGE), parts: { portal } },
    ...{ token: randomBytes(32).toString('base64url'), guardsReading: true, port },
  })
}

type PortalExchange = PageExchange & { readonly portal: Portal }

const MOST_DELIVERIES = 100
const KEY = '/api/keys/(?<id>[0-9a-f-]{36})'

const name = z.string().trim().min(1).max(200)
const account = z.string().min(1)
const newKey = z.strictObject({ account, name })
const credits = z.strictObject({ account, creditsSec: z.number().nullable() })
const webhook = z.strictObject({
  account,
  /** Null for no more webhooks. */
  url: z.string().min(1).nullable(),
  method: webhookMethodSchema,
  secretPosition: secretPositionSchema,
  /** Absent to keep the present one. */
  secret: z.string().min(1).max(LIMITS.webhookSecretMaxChars).nullable().optional(),
})

/** Everything that the page asks and changes, by the functions that the commands of `voxmux portal` use. */
const PORTAL_ROUTES: readonly Route<{ readonly portal: Portal }>[] = [
  { method: 'GET', pattern: /^\/api\/portal$/, answer: answerPortal },
  change(/^\/api\/accounts$/, z.strictObject({ name }), async ({ portal }, body) => {
    return { account: (await portal.accounts.create(body.name)).name }
  }),
  change(/^\/api\/keys$/, newKey, async ({ portal }, body) => {
    return withSecret(await portal.keys.create((await accountUser({ portal, account: body.account })).id, body.name))
  }),
  change(new RegExp(`^${KEY}/regenerate$`), z.strictObject({}), async ({ portal, groups }) =>
    withSecret(await portal.keys.regenerate(groups.id ?? '')),
  ),
  change(new RegExp(`^${KEY}/revoke$`), z.strictObject({}), async ({ portal, groups }) =>
    shownKey(await portal.keys.revoke(groups.id ?? '')),
  ),
  change(/^\/api\/webhook$/, webhook, async ({ portal }, body) => {
    const { id } = await accountUser({ portal, account: body.account })
    const { url, method, secretPosition } = body
    const secret = body.secret === undefined ? ((await portal.webhooks.of(id))?.secret ?? null) : body.secret
    await portal.webhooks.set(id, url === null ? null : { url, method, secretPosition, secret })
    return { ...shownTarget(await portal.webhooks.of(id)), warning: url === null ? null : await guardWarning(url) }
  }),
  change(/^\/api\/deliveries\/(?<id>\d{1,15})\/redeliver$/, z.strictObject({}), async ({ portal, groups }) => {
    await portal.outbox.redeliver(Number(groups.id))
    return {}
  }),
  change(/^\/api\/credits$/, credits, async ({ portal }, body) => {
    await portal.accounts.setCredits((await accountUser({ portal, account: body.account })).id, body.creditsSec)
    return { creditsSec: body.creditsSec }
  }),
]

/** `GET /api/portal?account=NAME`: all that the page shows. */
async function answerPortal({ portal, query, response }: PortalExchange): Promise<void> {
  const user = await accountUser({ portal, account: query.get('account') ?? 'local' })
  const { tenantId, scope } = portal.identity
  const keys = (await portal.keys.list()).filter(({ userId }) => userId === user.id)
  sendJson(response, 200, {
    ...{ tenantId, scope, account: user.name, creditsSec: user.creditsSec },
    accounts: (await portal.accounts.list()).map((one) => one.name),
    keys: keys.map(shownKey),
    webhook: shownTarget(await portal.webhooks.of(user.id)),
    deliveries: await portal.deliveries.latest(MOST_DELIVERIES),
    usage: { days: USAGE_DAYS, ...(await portal.accounts.usage(user.id, Date.now() - USAGE_DAYS * DAY_MS)) },
  })
}

/** A route that changes something. Its body must have the shape. */
function change<Body>(
  pattern: RegExp,
  schema: z.ZodType<Body>,
  apply: (exchange: PortalExchange, body: Body) => Promise<object | null>,
): Route<{ readonly portal: Portal }> {
  return {
    ...{ method: 'POST', pattern, readsBody: true },
    answer: async (exchange) => {
      const body = schema.safeParse(await readJsonBody(exchange.request))
      if (!body.success) throw new UsageError('ERR_USAGE', `The request is not valid: ${z.prettifyError(body.error)}`)
      sendJson(exchange.response, 200, await apply(exchange, body.data))
    },
  }
}

/** The only response with a secret. */
function withSecret(key: NewApiKey) {
  return { ...shownKey(key), client_secret: key.clientSecret }
}
