import { randomUUID } from 'node:crypto'
import { DEFAULT_LEASE_MS } from '../jobs/job-store.js'
import { type Holder, isCertainlyDead } from '../leases/holder.js'
import { leaseLost } from '../leases/leases.js'
import {
  isAtRest,
  KEEP_VOICES_MS,
  VOICE_MOVES,
  VOICE_STATUSES,
  type Voice,
  type VoiceAttempt,
  type VoiceStatus,
  type VoiceStep,
} from '../voices/voice.js'
import type { VoiceClaim, VoiceLease, VoiceLedger } from '../voices/voice-ledger.js'
import { hashOf } from './hash-of.js'
import type { RedisScripts } from './redis-scripts.js'
import { VOICE_SCRIPTS } from './voice-scripts.js'

/** {@link VoiceLedger} on Redis, for any number of machines. */
export class RedisVoiceLedger implements VoiceLedger {
  readonly #scripts: RedisScripts
  readonly #holder: string
  readonly #keepMs: number

  constructor({
    scripts,
    holder,
    keepVoicesMs = KEEP_VOICES_MS,
  }: {
    readonly scripts: RedisScripts
    readonly holder: Holder
    readonly keepVoicesMs?: number | undefined
  }) {
    this.#scripts = scripts
    this.#holder = JSON.stringify(holder)
    this.#keepMs = keepVoicesMs
  }

  async claim(key: string, leaseMs: number = DEFAULT_LEASE_MS): Promise<VoiceClaim> {
    const token = randomUUID()
    const claim = (dead: string) => this.#run('claim', [key, dead, token, this.#holder, leaseMs, this.#keepMs])
    let answer = await claim('')
    const dead = answer[0] === 'held' ? deadHolder(answer[2]) : ''
    if (dead) answer = await claim(dead)
    const voice = this.#one(answer[2])
    if (answer[0] === 'held') return { outcome: 'held', voice }
    return { outcome: 'claimed', voice, lease: { key, token, expiresMs: Number(answer[1]) + leaseMs } }
  }

  async heartbeat(lease: VoiceLease, leaseMs: number = DEFAULT_LEASE_MS): Promise<VoiceLease> {
    const answer = await this.#leased('heartbeat', lease, [leaseMs])
    return { ...lease, expiresMs: Number(answer[1]) + leaseMs }
  }

  async advance(lease: VoiceLease, step: VoiceStep): Promise<Voice> {
    const from = VOICE_STATUSES.filter((status) => VOICE_MOVES[status].includes(step.status))
    const answer = await this.#leased('advance', lease, [
      ...[step.status, `,${from.join(',')},`, isAtRest(step.status) ? '1' : ''],
      step.status === 'registered' ? step.fileId : '',
      step.status === 'cached' ? step.path : '',
      ...attemptChange(step),
    ])
    if (answer[0] === 'wrong') throw new Error(`A voice cannot change from ${answer[1]} to ${step.status}.`)
    return this.#one(answer[2])
  }

  async release(lease: VoiceLease): Promise<void> {
    await this.#run('release', [lease.key, lease.token])
  }

  async get(key: string): Promise<Voice | null> {
    return voiceOf(await this.#run('get', [key]))
  }

  async getByFileId(fileId: string): Promise<Voice | null> {
    return voiceOf(await this.#run('getByFileId', [fileId]))
  }

  async forget(key: string): Promise<boolean> {
    const dead = deadHolder(await this.#run('get', [key]))
    return Number(await this.#scripts.run('voice-forget', VOICE_SCRIPTS.forget, [key, dead])) === 1
  }

  /** Runs a write that needs the lease. @throws TransientError `ERR_LEASE_LOST` */
  async #leased(
    name: 'heartbeat' | 'advance',
    lease: VoiceLease,
    values: readonly (string | number)[],
  ): Promise<unknown[]> {
    const answer = await this.#run(name, [lease.key, lease.token, randomUUID(), ...values])
    if (answer[0] === 'lost') throw leaseLost('this voice')
    return answer
  }

  async #run(name: keyof typeof VOICE_SCRIPTS, own: readonly (string | number)[]): Promise<unknown[]> {
    return (await this.#scripts.run(`voice-${name}`, VOICE_SCRIPTS[name], own)) as unknown[]
  }

  #one(flat: unknown): Voice {
    const voice = voiceOf(flat)
    if (!voice) throw new Error('A voice vanished within a script.')
    return voice
  }
}

/** The holder of a voice if it is certainly dead, else ''. */
function deadHolder(flat: unknown): string {
  const holder = hashOf(flat).get('holder')
  return holder !== undefined && isCertainlyDead(JSON.parse(holder) as Holder) ? holder : ''
}

/** The changes of the current attempt by a step: operation, field, value. `now` is the time of Redis. */
function attemptChange(step: VoiceStep): (string | number)[] {
  switch (step.status) {
    case 'registering':
      return ['set', 'startedMs', 'now']
    case 'registered':
      return ['set', 'fileId', step.fileId]
    case 'starting':
      return ['set', 'paidSec', step.paidSec]
    case 'uploaded':
    case 'cached':
      return []
    case 'started':
      return ['set', 'charged', 1]
    case 'succeeded':
      return ['set', 'charged', 1, 'clear', 'errorCode', '', 'once', 'endedMs', 'now']
    case 'failed':
      return ['set', 'errorCode', step.errorCode, 'once', 'endedMs', 'now']
    default:
      return step satisfies never
  }
}

function voiceOf(flat: unknown): Voice | null {
  const hash = hashOf(flat)
  const key = hash.get('key')
  if (key === undefined) return null
  const count = Number(hash.get('attempts'))
  const attempts = Array.from({ length: count }, (_, index) => attemptOf(hash, index + 1))
  const latest = attempts.at(-1)
  return {
    key,
    status: hash.get('status') as VoiceStatus,
    fileId: latest?.fileId ?? null,
    errorCode: latest?.errorCode ?? null,
    cachePath: hash.get('cachePath') ?? null,
    paidSec: attempts.reduce((sum, attempt) => sum + attempt.paidSec, 0),
    attempts,
    createdMs: Number(hash.get('created')),
    updatedMs: Number(hash.get('updated')),
  }
}

function attemptOf(hash: ReadonlyMap<string, string>, attempt: number): VoiceAttempt {
  const field = (name: string) => hash.get(`${name}:${attempt}`)
  const number = (name: string) => (field(name) === undefined ? null : Number(field(name)))
  return {
    attempt,
    fileId: field('fileId') ?? null,
    status: field('status') as VoiceAttempt['status'],
    errorCode: number('errorCode'),
    paidSec: field('charged') === '1' ? Number(field('paidSec')) : 0,
    startedMs: Number(field('startedMs')),
    endedMs: number('endedMs'),
  }
}
