import { nearest } from '../../config/index.js'
import { secretPositionSchema, webhookMethodSchema } from '../../contract/index.js'
import { type ExitCode, UsageError } from '../../core/errors.js'
import { openPortal } from '../../service/portal/portal.js'
import { oneOf, text, toggle } from '../arguments/option.js'
import { portNumber } from '../arguments/port-number.js'
import { defineCommand } from '../command.js'
import { untilStopped } from '../interruption.js'
import { startPortalPage } from '../portal-page/start-portal-page.js'
import { nodeFolder, serviceFolder, sharedStore } from '../service-place.js'
import type { PortalAction, PortalRequest } from './portal-action.js'
import { CREDIT_ACTIONS } from './portal-credits.js'
import { KEY_ACTIONS } from './portal-keys.js'
import { SHOW_ACTIONS } from './portal-show.js'
import { WEBHOOK_ACTIONS } from './portal-webhook.js'

const ACTIONS: Readonly<Record<string, PortalAction>> = {
  ...SHOW_ACTIONS,
  ...KEY_ACTIONS,
  ...CREDIT_ACTIONS,
  ...WEBHOOK_ACTIONS,
  page: servePage,
}

/** Topics without an action. */
const ALONE: ReadonlySet<string> = new Set(['show', 'usage', 'page'])

/** `voxmux portal …` */
export const command = defineCommand({
  positionals: '<topic> [action] [subject]',
  examples: [
    ['show', 'show the tenant, client ids, scope, credits and webhooks'],
    ['account create --name studio', 'create an account with its own user'],
    ['keys create --name ci', 'create an API key; its secret is shown only once'],
    ['keys list', 'list the keys; also: regenerate CLIENT_ID, revoke CLIENT_ID'],
    ['keys rotate', 'sign new tokens with a new key'],
    ['credits set 3600', 'set the seconds of audio that the account may process, or: unlimited'],
    [
      'webhook set --url https://example.com/hook --secret-position header --secret-stdin',
      'set the address that gets the webhooks',
    ],
    ['webhook log', 'list the webhooks sent; also: webhook redeliver ID, webhook clear'],
    ['usage', 'show files, sound and credits of the last 30 days'],
    ['page --port 8790', 'open the portal as a page on this machine'],
  ],
  build: (parser) =>
    parser
      .positional('topic', {
        type: 'string',
        demandOption: true,
        describe: 'Topic: show, usage, account, keys, credits, webhook or page',
      })
      .positional('action', { type: 'string', describe: 'Action on the topic' })
      .positional('subject', { type: 'string', describe: 'Client id, seconds or delivery id' })
      .option('data', text('Folder of the service (default: that of the embedded service)'))
      .option('store', text('Shared store of the service (postgres://…)'))
      .option('account', { ...text('Account that the command is about'), default: 'local' })
      .option('name', text('Name of the new key or account'))
      .option('url', text('Address that gets the webhooks'))
      .option('method', {
        ...oneOf(webhookMethodSchema.options, 'HTTP method of the webhooks'),
        default: 'POST' as const,
      })
      .option('secret-position', {
        ...oneOf(secretPositionSchema.options, 'Place of the secret in a webhook request'),
        default: 'header' as const,
      })
      .option('secret-stdin', toggle('Read the secret of the webhooks from stdin'))
      .option('limit', { ...text('Number of log lines to show'), default: '50' })
      .option('port', { ...text('Port of the page; 0 picks a free one'), default: '0' })
      .option('json', toggle('Print events as JSON lines on stdout')),
  run: async (args, { cwd, env, output, signal }) => {
    const words = ALONE.has(args.topic) ? args.topic : [args.topic, args.action].filter(Boolean).join(' ')
    const act = ACTIONS[words]
    if (!act) throw args.action === undefined ? actionMissing(args.topic) : unknownAction(words)
    const store = sharedStore(args, env)
    const place = store === undefined ? { dataDir: await folderOf(args, { cwd, env }) } : { store }
    const portal = await openPortal(place)
    try {
      const exitCode = await act({
        portal,
        output,
        signal,
        ...args,
        secretPosition: args['secret-position'],
        secretStdin: args['secret-stdin'],
      })
      return exitCode ?? 0
    } finally {
      await portal.close()
    }
  },
})

/** The first account or key of a service may be made before the service runs; everything else needs an existing folder. */
function folderOf(
  { action, data }: { readonly action?: string | undefined; readonly data?: string | undefined },
  around: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string> {
  return action === 'create' ? nodeFolder({ data }, { isShared: false, around }) : serviceFolder(data, around)
}

async function servePage({ portal, output, port, signal }: PortalRequest): Promise<ExitCode> {
  const page = await startPortalPage(portal, portNumber(port))
  try {
    output.event({ event: 'page', url: page.url })
    output.print(`The portal is at ${page.url}\nThe address contains a secret of this start. Press Ctrl-C to stop.`)
    return await untilStopped(signal)
  } finally {
    await page.close()
  }
}

/** Names the actions of a topic that was given alone. */
function actionMissing(topic: string): UsageError {
  const actions = Object.keys(ACTIONS).flatMap((name) =>
    name.startsWith(`${topic} `) ? [name.slice(topic.length + 1)] : [],
  )
  if (actions.length === 0) return unknownAction(topic)
  const listed = actions.join(', ').replace(/, ([^,]+)$/, ' or $1')
  return new UsageError('ERR_USAGE', `\`portal ${topic}\` needs an action: ${listed}.`, {
    remedies: ['`voxmux portal --help` shows examples. `voxmux portal show` lists keys, credits and webhooks.'],
  })
}

function unknownAction(words: string): UsageError {
  const known = Object.keys(ACTIONS)
  const guess = nearest(words, known)
  return new UsageError(
    'ERR_USAGE',
    `\`portal ${words}\` does not exist${guess ? `; did you mean \`${guess}\`?` : '.'}`,
    {
      remedies: [`Use one of: ${known.join(', ')}.`],
    },
  )
}
