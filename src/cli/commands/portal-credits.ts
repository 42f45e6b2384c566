import { UsageError } from '../../core/errors.js'
import { accountUser, type PortalAction, required } from './portal-action.js'

/** `voxmux portal credits …` and `voxmux portal account …` */
export const CREDIT_ACTIONS: Readonly<Record<string, PortalAction>> = {
  'credits set': async (request) => {
    const { portal, output, account } = request
    const creditsSec = credits(required(request.subject, 'The number of seconds (or "unlimited")'))
    await portal.accounts.setCredits((await accountUser(request)).id, creditsSec)
    output.event({ event: 'credits', account, creditsSec })
    output.print(`${account}: ${creditsSec === null ? 'unlimited' : `${creditsSec} s of audio left`}.`)
  },

  'account create': async ({ portal, output, name }) => {
    const user = await portal.accounts.create(required(name, '--name'))
    output.event({ event: 'account', name: user.name, accountId: user.accountId, userId: user.id })
    output.print(
      `Account "${user.name}" created. Create its first key: voxmux portal keys create --account ${user.name} --name NAME`,
    )
  },
}

function credits(text: string): number | null {
  if (text === 'unlimited') return null
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  throw new UsageError('ERR_USAGE', `Credits are a number of seconds or "unlimited", not "${text}".`, {
    remedies: ['For one hour: voxmux portal credits set 3600'],
  })
}
