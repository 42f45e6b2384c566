// Posts the end of a watched file to Slack, Microsoft Teams or ntfy. voxmux adds the last four arguments:
//   node chat.mjs slack|teams|ntfy ADDRESS-FILE [--all] status output source preset
// The first line of ADDRESS-FILE is the address. A second line, if any, is the value of the Authorization header.
// Without --all, only failures are posted.
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

const [kind, addressFile, ...rest] = process.argv.slice(2)
const [status, output, source] = rest.slice(-4)
const { VOXMUX_MESSAGE: message, VOXMUX_REMEDIES: remedies, VOXMUX_DASHBOARD: dashboard } = process.env
const hasFailed = output === ''
if (!hasFailed && !rest.slice(0, -4).includes('--all')) process.exit(0)

const title = `voxmux: ${basename(source)} ${status}`
const steps = remedies ? remedies.split('\n').map((remedy) => `→ ${remedy}`) : []
const lines = hasFailed ? [message, ...steps, source] : [output]
const [address, authorization] = readAddressFile()
  .split('\n')
  .map((line) => line.trim())
if (!URL.canParse(address)) stop(`${addressFile} has no address. Paste that of the webhook into its first line.`)
const url = new URL(address)

const requests = {
  slack: () => ({
    text: escaped([`*${title}*`, ...lines].join('\n')) + (dashboard ? `\n<${dashboard}|Dashboard>` : ''),
  }),
  teams: () => ({
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content: card() }],
  }),
  // The JSON of ntfy goes to the server, and names the topic. Unlike its headers, JSON can hold any name.
  ntfy: () => {
    const topic = url.pathname.slice(url.pathname.lastIndexOf('/') + 1)
    url.pathname = url.pathname.slice(0, -topic.length)
    return {
      topic,
      title,
      message: lines.join('\n'),
      priority: hasFailed ? 4 : 3,
      ...(dashboard && { click: dashboard }),
    }
  },
}

if (!Object.hasOwn(requests, kind)) stop(`"${kind}" is not known. Use slack, teams or ntfy.`)
const body = JSON.stringify(requests[kind]())
const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) }
const response = await fetch(url, { method: 'POST', headers, body }).catch(({ message, cause }) =>
  stop(`${url.host} was not reached (${cause?.code ?? message}). Check the address in ${addressFile}.`),
)
if (!response.ok) stop(`${url.host} responded with status ${response.status}. Check the address in ${addressFile}.`)

function readAddressFile() {
  try {
    return readFileSync(addressFile, 'utf8')
  } catch (error) {
    return stop(`The file with the address cannot be read (${error.message}).`)
  }
}

/** The path of an address holds its secret: only the host is shown. */
function stop(message) {
  process.stderr.write(`chat.mjs: ${message}\n`)
  process.exit(1)
}

/** Slack reads these three as markup. */
function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function card() {
  const texts = [title, ...lines].map((text, index) => ({
    ...{ type: 'TextBlock', text, wrap: true },
    ...(index === 0 && { weight: 'Bolder' }),
  }))
  const actions = dashboard ? [{ type: 'Action.OpenUrl', title: 'Dashboard', url: dashboard }] : []
  return { type: 'AdaptiveCard', version: '1.4', body: texts, actions }
}
