import type { Service } from './service.js'
import type { ServiceAnswer, ServiceRequest } from './service-exchange.js'
import type { World } from './world.js'

/** Latest arrival of a request that is delivered for the second time. */
const LATE_MS = 5000
/** Questions about a file, whose answers a careless proxy may keep. */
const ABOUT_FILES: ReadonlySet<string> = new Set(['getFilesStatus', 'getOutputFileUrl'])

/** A network that delivers some requests and some answers twice. */
export class Network {
  readonly #world: World
  readonly #service: Service
  /** Latest answers about files, by question. */
  readonly #earlier = new Map<string, ServiceAnswer>()

  constructor(world: World, service: Service) {
    this.#world = world
    this.#service = service
  }

  /** Brings a request to the service, once or twice, and an answer back: of either time, or of an earlier request. */
  deliver(request: ServiceRequest): ServiceAnswer {
    const { random, scheduler, weather } = this.#world
    const first = this.#service.answer(request)
    if (random.chance(weather.doubledRequests)) {
      this.#world.note(`the network delivers ${request.operation} twice`)
      if (random.chance(0.5)) return this.#service.answer(request)
      scheduler.after(random.between(1, LATE_MS), null, () => this.#service.answer(request))
    }
    return ABOUT_FILES.has(request.operation) ? this.#newestOrEarlier(request, first) : first
  }

  #newestOrEarlier({ operation, json }: ServiceRequest, newest: ServiceAnswer): ServiceAnswer {
    const { random, weather } = this.#world
    const question = `${operation} ${JSON.stringify(json)}`
    const earlier = this.#earlier.get(question)
    this.#earlier.set(question, newest)
    if (earlier === undefined || !random.chance(weather.doubledAnswers)) return newest
    this.#world.note(`an earlier answer to ${operation} comes once more`)
    return earlier
  }
}
