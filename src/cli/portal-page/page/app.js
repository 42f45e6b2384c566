import { toast } from './announce.js'
import { ask, change } from './ask.js'
import { byId, make, reconcile, setText } from './elements.js'
import { exactTime, plural } from './format.js'

const REFRESH_MS = 5000
let account = 'local'

byId('account').addEventListener('change', (event) => {
  account = event.target.value
  hideSecret()
  void refresh()
})
onSubmit('key-form', async ({ name }) => showSecret(await change('api/keys', { account, name })))
onSubmit('account-form', async ({ name }) => {
  account = (await change('api/accounts', { name })).account
})
onSubmit('credits-form', ({ credits }) =>
  change('api/credits', { account, creditsSec: credits === 'unlimited' ? null : Number(credits) }),
)
onSubmit('webhook-form', ({ secret, ...target }) =>
  change('api/webhook', { account, ...target, ...(secret !== '' && { secret }) }),
)
byId('webhook-clear').addEventListener('click', () =>
  act('The webhook is removed.', () =>
    change('api/webhook', { account, url: null, method: 'POST', secretPosition: 'header' }),
  ),
)
await refresh()
setInterval(() => {
  if (!document.hidden) void refresh()
}, REFRESH_MS)

/** Sends the fields of a form, and empties it if that succeeds. */
function onSubmit(id, send) {
  const form = byId(id)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void act('Saved.', async () => {
      const saved = await send(Object.fromEntries(new FormData(form)))
      form.reset()
      return saved
    })
  })
}

async function act(done, send) {
  try {
    const warning = (await send())?.warning
    toast(warning ?? done, warning ? 'bad' : undefined)
    await refresh()
  } catch (fault) {
    toast(fault.message, 'bad')
  }
}

async function refresh() {
  try {
    show(await ask(`api/portal?${new URLSearchParams({ account })}`))
  } catch (fault) {
    toast(fault.message, 'bad')
  }
}

function show({ tenantId, scope, accounts, creditsSec, keys, webhook, deliveries, usage }) {
  reconcile(
    byId('account'),
    accounts,
    (name) => name,
    (name) => make('option', { value: name }, name),
    () => {},
  )
  byId('account').value = account
  showFacts([
    ['Credits', creditsSec === null ? 'unlimited' : `${creditsSec.toLocaleString('en')} s`],
    [`In ${usage.days} days`, `${plural(usage.files, 'file')}, ${usage.failed} failed`],
    ['Sound charged', `${usage.chargedSec.toLocaleString('en')} s`],
    ['Tenant id', tenantId],
    ['Scope', scope],
  ])
  reconcile(
    byId('keys'),
    keys,
    ({ client_id, createdMs, revokedMs }) => `${client_id} ${createdMs} ${revokedMs}`,
    keyRow,
    () => {},
  )
  const secret = webhook?.hasSecret ? `with a secret in the ${webhook.secretPosition}` : 'without a secret'
  setText(byId('webhook'), webhook === null ? 'No address is set.' : `${webhook.method} ${webhook.url}, ${secret}`)
  byId('webhook-clear').disabled = webhook === null
  byId('log-empty').hidden = deliveries.length > 0
  reconcile(
    byId('log'),
    deliveries,
    ({ id }) => String(id),
    deliveryRow,
    () => {},
  )
}

function showFacts(facts) {
  reconcile(
    byId('facts'),
    facts,
    ([name]) => name,
    ([name]) => make('div', {}, make('dt', {}, name), make('dd')),
    (box, [, value]) => setText(box.lastElementChild, value),
  )
}

function keyRow({ client_id: id, name, createdMs, expiresMs, revokedMs }) {
  const isRevoked = revokedMs !== null
  const until = isRevoked ? `revoked ${exactTime(revokedMs)}` : exactTime(expiresMs)
  const regenerate = () => {
    if (!confirm(`Give ${name} a new secret? The present one and its tokens end at once.`)) return
    void act('The key has a new secret.', async () => showSecret(await change(`api/keys/${id}/regenerate`, {})))
  }
  const revoke = () => {
    if (!confirm(`Revoke ${name}? The key and its tokens end at once.`)) return
    void act(`${name} is revoked.`, () => change(`api/keys/${id}/revoke`, {}))
  }
  const actions = [
    button('Regenerate', `Regenerate ${name}`, regenerate),
    isRevoked ? null : button('Revoke', `Revoke ${name}`, revoke),
  ]
  const [created, code, buttons] = [exactTime(createdMs), make('code', {}, id), make('span', {}, ...actions)]
  return row({ Name: name, 'Client id': code, Created: created, 'Valid until': until, Actions: buttons })
}

function deliveryRow({ id, atMs, outcome, attempt, type, status, fileId, detail }) {
  const again = () => void act('The webhook is queued again.', () => change(`api/deliveries/${id}/redeliver`, {}))
  const action = button('Redeliver', `Redeliver ${type} of ${exactTime(atMs)}`, again)
  return row({
    ...{ Time: exactTime(atMs), Result: outcome, Try: String(attempt), Event: `${type}: ${status}` },
    ...{ File: make('code', {}, fileId), Detail: detail, Actions: action },
  })
}

/** A row of cells by their heading, which a phone shows beside each. */
function row(cells) {
  return make('tr', {}, ...Object.entries(cells).map(([label, cell]) => make('td', { 'data-label': label }, cell)))
}

function button(text, label, onclick) {
  return make('button', { type: 'button', 'aria-label': label, onclick }, text)
}

/** Shows a new secret until the person closes it. No response contains it again. */
function showSecret({ name, client_id: id, client_secret: secret }) {
  const box = byId('secret')
  box.replaceChildren(
    make('strong', {}, `${name}: copy the secret now. It is shown only once.`),
    make('p', {}, 'Client id ', make('code', {}, id)),
    make('p', {}, 'Secret ', make('code.secret', {}, secret)),
    button('Done', 'Done: hide the secret', hideSecret),
  )
  box.hidden = false
}

function hideSecret() {
  byId('secret').replaceChildren()
  byId('secret').hidden = true
}
