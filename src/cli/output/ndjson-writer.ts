import type { Writable } from 'node:stream'
import { EVENT_SCHEMA_VERSION } from '../../pipeline/events.js'

/** An event to write. The writer adds the version, and an id of null if there is none. */
export interface WritableEvent {
  readonly event: string
  readonly [field: string]: unknown
}

/** Writes one JSON object per line. If the reader closes the pipe (`| head -1`), only the writing stops. */
export class NdjsonWriter {
  readonly #stream: Writable
  #isOpen = true

  constructor(stream: Writable) {
    this.#stream = stream
    stream.on('error', () => {
      this.#isOpen = false
    })
  }

  write<E extends WritableEvent>({ event, ...fields }: E): void {
    if (!this.#isOpen) return
    this.#stream.write(`${JSON.stringify({ event, schemaVersion: EVENT_SCHEMA_VERSION, id: null, ...fields })}\n`)
  }
}
