import { type MediaBytes, readMedia, sha256, writeMedia } from './media-bytes.js'
import type { ServiceAnswer, ServiceRequest } from './service-exchange.js'
import { type ServiceFile, stateOf } from './service-file.js'
import { StartRequests } from './start-requests.js'
import type { World } from './world.js'

/** Told when a start is accepted: that is when money is spent. */
export type OnPayment = (file: ServiceFile, voice: string) => void

const HOUR_MS = 3_600_000
/** Failures of the moment and of the file, and one that the interface does not list. */
const FAILURES = [-1, -12, -3, -2, -19]

/** The service as the interface has it. What is charged for, and what went wrong in earnest, is written down. */
export class Service {
  readonly files = new Map<string, ServiceFile>()
  /** Good reasons to pay for a voice once more, by voice and options. */
  readonly excuses = new Map<string, number>()
  readonly starts: StartRequests
  onPayment: OnPayment = () => {}
  readonly #world: World
  #tokens = 0
  readonly #tokenEndsMs = new Map<string, number>()

  constructor(world: World) {
    this.#world = world
    this.starts = new StartRequests(world)
  }

  answer(request: ServiceRequest): ServiceAnswer {
    const { operation, json, token } = request
    if (operation === 'ping') return answer(200, { status: 'ok' })
    if (operation === 'token') return this.#token()
    if (operation === 'upload') return this.#upload(request)
    if (operation === 'download') return this.#download(request.url)
    if ((this.#tokenEndsMs.get(token ?? '') ?? 0) <= this.#world.trueMs) return answer(401, { message: 'expired' })
    const body = json as { file_id: string; fileId: string; fileIds: string[]; options: object }
    switch (operation) {
      case 'registerFile':
        return this.#register((json as { file_to_register: { client_file_id: string } }).file_to_register)
      case 'startProcess':
        return this.#start(body.file_id, body.options)
      case 'getFilesStatus':
        return answer(
          200,
          body.fileIds.map((id) => this.#status(id)),
        )
      case 'getOutputFileUrl':
        return this.#link(body.fileId)
      default:
        return answer(404, { message: `no operation ${operation}` })
    }
  }

  /** Loses a file in earnest: whatever was paid for it is gone. */
  lose(file: ServiceFile): void {
    file.isLost = true
    if (file.payments > 0) this.#excuse(file)
  }

  #token(): ServiceAnswer {
    const token = `token-${++this.#tokens}`
    this.#tokenEndsMs.set(token, this.#world.trueMs + HOUR_MS)
    return answer(200, { access_token: token, token_type: 'Bearer', expires_in: 3600 })
  }

  #register({ client_file_id: clientFileId }: { client_file_id: string }): ServiceAnswer {
    const { random, trueMs, weather } = this.#world
    const id = `file-${this.files.size + 1}`
    const outcome = random.chance(weather.failingFiles) ? random.pick(FAILURES) : 0
    this.files.set(id, {
      ...{ id, clientFileId, linkEndsMs: trueMs + HOUR_MS, bytes: null, startedMs: null, beginsMs: 0, endsMs: 0 },
      ...{ outcome, isLost: false, options: '', payments: 0 },
    })
    const link = { file_upload_link: `https://storage.sim/in/${id}`, file_upload_expiry: seconds(trueMs + HOUR_MS) }
    return answer(200, { registered_file: { file_id: id, client_file_id: clientFileId, file_name: id, ...link } })
  }

  #upload({ url, bytes = Buffer.alloc(0) }: ServiceRequest): ServiceAnswer {
    const file = this.files.get(url.split('/').at(-1) ?? '')
    if (!file || file.linkEndsMs <= this.#world.trueMs) return answer(403, {})
    file.bytes = bytes
    return answer(201, {})
  }

  #start(id: string, options: object): ServiceAnswer {
    const { random, trueMs, weather } = this.#world
    const file = this.files.get(id)
    if (!file || file.isLost) return answer(404, { message: 'no such file' })
    const refused = { file_id: id, error: { code: 409, message: 'conflict' } }
    const media = file.bytes && readMedia(file.bytes)
    if (!media) return answer(200, refused)
    if (file.startedMs !== null) return answer(200, weather.hasConflicts ? refused : { file_id: id, error: null })
    file.startedMs = trueMs
    file.beginsMs = trueMs + random.between(0, random.chance(0.1) ? 20_000 : 300)
    file.endsMs = file.beginsMs + random.between(200, random.chance(0.1) ? 5_000_000 : 1500)
    file.options = JSON.stringify(options)
    file.payments += 1
    this.onPayment(file, media.voice)
    if (file.outcome !== 0) this.#excuse(file)
    if (random.chance(weather.lostFiles)) this.lose(file)
    return answer(200, { file_id: id, error: null })
  }

  #status(id: string): object {
    const file = this.files.get(id)
    const { trueMs } = this.#world
    const status = stateOf(file, trueMs)
    const errorCode = status === 'Failed' ? file?.outcome : status === 'NotFound' ? -11 : 0
    return { id, status, errorCode, progress: status === 'Succeeded' ? 100 : status === 'InProgress' ? 50 : 0 }
  }

  #link(id: string): ServiceAnswer {
    const { trueMs } = this.#world
    if (stateOf(this.files.get(id), trueMs) !== 'Succeeded') return answer(404, { message: 'no output' })
    const url = `https://storage.sim/out/${id}?ends=${seconds(trueMs + HOUR_MS)}`
    return answer(200, { url, expiry: seconds(trueMs + HOUR_MS) })
  }

  #download(url: string): ServiceAnswer {
    const { pathname, searchParams } = new URL(url)
    const file = this.files.get(pathname.split('/').at(-1) ?? '')
    if (!file || file.isLost || Number(searchParams.get('ends')) * 1000 <= this.#world.trueMs) return answer(403, {})
    const sent = readMedia(file.bytes ?? Buffer.alloc(0)) as MediaBytes
    const made = { kind: 'regenerated', voice: sent.voice, sec: sent.sec, options: file.options } as const
    return { status: 200, body: writeMedia(made, 60) }
  }

  #excuse({ bytes, options }: ServiceFile): void {
    const key = paymentKey(readMedia(bytes ?? Buffer.alloc(0))?.voice ?? '', options)
    this.excuses.set(key, (this.excuses.get(key) ?? 0) + 1)
  }
}

/** What is paid for: a voice, and what is asked to be done with it. */
export function paymentKey(voice: string, options: string): string {
  return sha256(`${voice} ${options}`)
}

function answer(status: number, body: unknown): ServiceAnswer {
  return { status, body: Buffer.from(JSON.stringify(body)) }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
