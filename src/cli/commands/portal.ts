import { nearest } from '../../config/index.js'
import { UsageError } from '../../core/errors.js'
import { openPortal } from '../../service/index.js'
import { defineCommand } from '../command.js'
import { serviceFolder } from '../service-folder.js'
import { sharedStore } from '../service-place.js'
import type { PortalAction } from './portal-action.js'
import { CREDIT_ACTIONS } from './portal-credits.js'
import { KEY_ACTIONS } from './portal-keys.js'
import { SHOW_ACTIONS } from './portal-show.js'
import { WEBHOOK_ACTIONS } from './portal-webhook.js'

/** Every action by the words that call it. */
const ACTIONS: Readonly<Record<string, PortalAction>> = {
  ...SHOW_ACTIONS,
  ...KEY_ACTIONS,
  ...CREDIT_ACTIONS,
  ...WEBHOOK_ACTIONS,
}

/** `voxmux portal …` */
export const command = defineCommand({
  positionals: '<topic> [action] [subject]',
  examples: [
    ['show', 'tenant, client ids, scope, credits and webhooks'],
    ['account create --name studio', 'an account, with a user of its own'],
    ['keys create --name ci', 'an API key; its secret is shown this once'],
    ['keys list', 'the keys; also: regenerate CLIENT_ID, revoke CLIENT_ID'],
    ['keys rotate', 'sign tokens with a new key from now on'],
    ['credits set 3600', 'seconds of audio that may still be processed; or: unlimited'],
    ['webhook set --url https://example.com/hook --secret-position header --secret-stdin', 'where events go'],
    ['webhook log', 'what became of the events; also: clear'],
  ],
  build: (parser) =>
    parser
      .positional('topic', { type: 'string', demandOption: true, describe: 'show, account, keys, credits or webhook' })
      .positional('action', { type: 'string', describe: 'What to do' })
      .positional('subject', { type: 'string', describe: 'Client id, or seconds' })
      .option('data', { type: 'string', describe: "The service's folder; default: the embedded service's" })
      .option('store', { type: 'string', requiresArg: true, describe: 'The store of its nodes (redis://…)' })
      .option('account', { type: 'string', default: 'local', describe: 'Whose keys, credits or webhooks' })
      .option('name', { type: 'string', describe: 'Name of the new key or account' })
      .option('url', { type: 'string', describe: 'Where webhooks go' })
      .option('method', { type: 'string', choices: ['POST', 'PUT', 'GET'] as const, default: 'POST' as const })
      .option('secret-position', {
        type: 'string',
        choices: ['header', 'query', 'body'] as const,
        default: 'header' as const,
        describe: 'Where the secret of a webhook goes',
      })
      .option('secret-stdin', { type: 'boolean', describe: 'Read the secret of the webhooks from standard input' })
      .option('limit', { type: 'string', default: '50', describe: 'Lines of the log' })
      .option('json', { type: 'boolean', describe: 'Events on stdout' }),
  run: async (args, { cwd, env, output }) => {
    const words = args.topic === 'show' ? 'show' : [args.topic, args.action].filter(Boolean).join(' ')
    const act = ACTIONS[words]
    if (!act) throw unknownAction(words)
    const store = sharedStore(args, env)
    const place = store === undefined ? { dataDir: await serviceFolder(args.data, { cwd, env }) } : { store }
    const portal = await openPortal(place)
    try {
      await act({ portal, output, ...args, secretPosition: args['secret-position'], secretStdin: args['secret-stdin'] })
      return 0
    } finally {
      await portal.close()
    }
  },
})

function unknownAction(words: string): UsageError {
  const known = Object.keys(ACTIONS)
  const guess = nearest(words, known)
  return new UsageError('ERR_USAGE', `There is no \`portal ${words}\`${guess ? `; did you mean \`${guess}\`?` : '.'}`, {
    remedies: [`There are: ${known.join(', ')}.`],
  })
}
