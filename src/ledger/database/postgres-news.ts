import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { withDeadline } from '../../core/waiting.js'
import type { Listening } from './database.js'
import type { PostgresServer } from './postgres-server.js'

/** A pooler in transaction mode accepts LISTEN, but its notifications reach the client that has the connection then. */
const PROOF_MS = 3000
const AGAIN_MS = 1000
/** Pause after a proof that did not arrive: such a pooler, or a server that was slow. */
const DEAF_MS = 60_000
const PROOF = 'voxmux-proof'

/** Sends a text to a channel. */
export const NOTIFY = 'SELECT pg_notify($1, $2)'

/** Listens to channels on one connection, which is made again when it is lost. */
export class PostgresNews {
  readonly #server: PostgresServer
  readonly #hearers = new Map<string, Set<(text: string) => void>>()
  #client: pg.Client | null = null
  #isHearing = false
  #isStopped = true

  constructor(server: PostgresServer) {
    this.#server = server
  }

  async listen(channel: string, hear: (text: string) => void): Promise<Listening> {
    const known = this.#hearers.get(channel) ?? new Set()
    this.#hearers.set(channel, known.add(hear))
    if (this.#isStopped) {
      this.#isStopped = false
      await this.#connect()
    } else await this.#client?.query(`LISTEN ${channel}`).catch(() => {})
    return {
      isHearing: () => this.#isHearing,
      stop: async () => {
        known.delete(hear)
        if ([...this.#hearers.values()].every((hearers) => hearers.size === 0)) await this.close()
      },
    }
  }

  async close(): Promise<void> {
    this.#isStopped = true
    this.#isHearing = false
    const client = this.#client
    this.#client = null
    const ended = client?.end().catch(() => {})
    if (ended) await withDeadline(ended, 1000, () => {})
  }

  async #connect(): Promise<void> {
    const client = this.#server.connectAlone()
    const proof = `${PROOF} ${randomUUID()}`
    this.#client = client
    client.on('notification', ({ channel, payload = '' }) => {
      if (payload === proof) this.#isHearing = true
      else if (!payload.startsWith(PROOF)) for (const hear of this.#hearers.get(channel) ?? []) hear(payload)
    })
    client.on('error', () => {})
    client.on('end', () => this.#again(client))
    try {
      await client.connect()
      for (const channel of this.#hearers.keys()) await client.query(`LISTEN ${channel}`)
      const [first] = this.#hearers.keys()
      // From another connection. To the sender, a pooler passes on the echo.
      await this.#server.patiently(0, (other) => this.#server.query(other, NOTIFY, [first ?? '', proof]))
      setTimeout(() => !this.#isHearing && this.#again(client, DEAF_MS), PROOF_MS).unref()
    } catch {
      this.#again(client)
    }
  }

  #again(client: pg.Client, waitMs = AGAIN_MS): void {
    if (this.#client !== client || this.#isStopped) return
    this.#isHearing = false
    this.#client = null
    client.end().catch(() => {})
    setTimeout(() => !this.#isStopped && this.#client === null && void this.#connect(), waitMs).unref()
  }
}
