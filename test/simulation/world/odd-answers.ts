import type { ServiceAnswer } from './service-exchange.js'
import type { World } from './world.js'

interface Entry {
  readonly id: string
  status: unknown
  errorCode: unknown
  progress: unknown
}

/** What a newer or careless service may make of one entry of a status. */
const ODD_ENTRIES: readonly ((entry: Entry) => object)[] = [
  (entry) => ({ ...entry, added: 'by a newer version' }),
  (entry) => ({ ...entry, progress: null }),
  (entry) => ({ ...entry, progress: String(entry.progress) }),
  (entry) => (entry.status === 'InProgress' ? { ...entry, status: 'Finalizing' } : entry),
  (entry) => (entry.status === 'InProgress' ? { ...entry, progress: 101 } : entry),
]

/** Makes an answer odd in a way that says nothing new: what is true of the file stays true. */
export function oddAnswer(world: World, operation: string, answer: ServiceAnswer): ServiceAnswer {
  const { random } = world
  if (answer.status !== 200 || !random.chance(world.weather.oddAnswers)) return answer
  switch (operation) {
    case 'getFilesStatus': {
      const entries = JSON.parse(answer.body.toString()) as Entry[]
      const odd = random.below(entries.length)
      const changed = entries.map((entry, at) => (at === odd ? random.pick(ODD_ENTRIES)(entry) : entry))
      return said(world, operation, answer, JSON.stringify(changed))
    }
    case 'getOutputFileUrl':
      world.note('the service answers getOutputFileUrl of a file that has succeeded with 404, once')
      return { status: 404, body: Buffer.from('{"message":"not found"}') }
    case 'token': {
      const token = JSON.parse(answer.body.toString()) as object
      return said(world, operation, answer, JSON.stringify({ ...token, expires_in: '3600' }))
    }
    case 'registerFile':
      return said(world, operation, answer, random.pick([`\uFEFF${answer.body}`, '', '<html>busy</html>']))
    // Its bytes are spoilt elsewhere.
    case 'download':
      return answer
    default:
      return said(world, operation, answer, random.pick(['', '<html>Welcome to our network</html>']))
  }
}

function said(world: World, operation: string, answer: ServiceAnswer, text: string): ServiceAnswer {
  world.note(`the service answers ${operation} oddly: ${text.slice(0, 120)}`)
  return { ...answer, body: Buffer.from(text) }
}
