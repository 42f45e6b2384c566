import { HttpFault } from '../../../src/client/http-fault.js'
import type { Exchange, TextExchange, Transport, UploadExchange } from '../../../src/client/transport.js'
import { InterruptedError } from '../../../src/core/errors.js'
import type { Network } from '../world/network.js'
import { oddAnswer } from '../world/odd-answers.js'
import type { Service } from '../world/service.js'
import type { ServiceAnswer, ServiceRequest } from '../world/service-exchange.js'
import { never } from '../world/sim-process.js'
import type { World } from '../world/world.js'

const ANSWER_TIMEOUT_MS = 30_000
const BUSY = [500, 502, 503, 429]

/** Single exchanges with the simulated service, over a network that delays, loses and cuts. */
export function simulatedTransport(world: World, service: Service, network: Network): Transport {
  const { random } = world
  const { starts } = service

  /** Sends a request, whose answer may never come, whatever the service did. */
  const exchange = (about: Exchange, request: ServiceRequest): Promise<ServiceAnswer> => {
    const process = world.current
    const { operation, signal } = about
    if (process?.isAlive === false) return never()
    if (signal?.aborted) throw new InterruptedError('Interrupted.', { cause: signal.reason })
    if (operation !== 'ping') world.activity += 1
    const sentAtStep = world.scheduler.steps
    const startedId = operation === 'startProcess' ? (request.json as { file_id: string }).file_id : null
    if (startedId !== null) starts.send(startedId, sentAtStep)
    return new Promise((resolve, reject) => {
      const stop = () => reject(new InterruptedError('Interrupted.', { cause: signal?.reason }))
      signal?.addEventListener('abort', stop, { once: true })
      const free = () => signal?.removeEventListener('abort', stop)
      const fail = (delayMs: number, reason: 'unsent' | 'network' | 'timeout') =>
        world.scheduler.after(delayMs, process, () => {
          free()
          reject(new HttpFault({ operation, reason, detail: 'simulated' }))
        })
      if (random.chance(world.weather.lostRequests)) {
        const reason = random.pick(['unsent', 'network'] as const)
        if (startedId !== null && reason === 'unsent') starts.unsent(startedId)
        fail(10, reason)
        return
      }
      world.scheduler.after(random.between(2, 300), null, () => {
        const { weather } = world
        const isBusy = random.chance(weather.busyAnswers)
        const isDone = !isBusy || random.chance(0.3)
        const honest = isDone ? network.deliver(request) : { status: 503, body: Buffer.alloc(0) }
        const answer = isBusy
          ? { status: random.pick(BUSY), body: Buffer.alloc(0) }
          : oddAnswer(world, operation, honest)
        if (random.chance(weather.lostAnswers)) {
          world.note(`the answer to ${operation} is lost`)
          fail(random.pick([5, ANSWER_TIMEOUT_MS]), random.pick(['network', 'timeout'] as const))
          return
        }
        world.scheduler.after(random.between(2, 300), process, () => {
          if (startedId !== null) starts.answered(startedId, answer)
          if (operation === 'getFilesStatus') starts.reported(answer, sentAtStep)
          free()
          resolve(answer)
        })
      })
    })
  }
  const headers = () => ({ date: new Date(world.trueMs).toUTCString() })

  return {
    async sendText({ url, json, headers: sent, ...about }: TextExchange) {
      const token = sent?.authorization?.replace('Bearer ', '')
      const { status, body } = await exchange({ url, ...about }, { operation: about.operation, url, json, token })
      return { status, headers: headers(), text: body.toString('utf8') }
    },
    async putStream({ body, url, ...about }: UploadExchange) {
      const chunks: Buffer[] = []
      for await (const chunk of body) chunks.push(Buffer.from(chunk as Buffer))
      const { status } = await exchange({ url, ...about }, { operation: 'upload', url, bytes: Buffer.concat(chunks) })
      return { status, headers: headers(), text: '' }
    },
    async getStream(about: Exchange) {
      const { status, body } = await exchange(about, { operation: 'download', url: about.url })
      const spoilt = status === 200 && random.chance(world.weather.badDownloads) ? spoil(world, body) : body
      const isLengthSaid = spoilt === body && random.chance(0.8)
      const length = isLengthSaid ? { 'content-length': String(body.length) } : null
      return {
        status,
        address: about.url,
        headers: { ...headers(), ...length },
        bytes: pieces(world, spoilt),
        discard: () => {},
      }
    },
  }
}

/** A download without a length that ends early, or the page of a network that wants a login. No two are the same. */
function spoil(world: World, body: Buffer): Buffer {
  world.note('a download is cut without a word, or is something else')
  const step = world.scheduler.steps
  if (world.random.chance(0.5)) return body.subarray(0, 1 + (step % (body.length - 1)))
  return Buffer.from(`<html>Please log in, guest ${step}</html>`)
}

async function* pieces(world: World, body: Buffer): AsyncGenerator<Buffer> {
  const half = body.length >> 1
  yield body.subarray(0, half)
  await world.perform('receive', () => {})
  yield body.subarray(half)
}
