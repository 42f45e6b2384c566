import type { TimelineNote } from './timeline.js'

/** Collects notes while a timeline is read: each kind once a subject, however often a clip is cut. */
export class NoteTaker {
  readonly #notes = new Map<string, TimelineNote>()

  add(kind: TimelineNote['kind'], subject: string, message: string): void {
    const key = JSON.stringify([kind, subject])
    if (!this.#notes.has(key)) this.#notes.set(key, { kind, subject, message })
  }

  get notes(): readonly TimelineNote[] {
    return [...this.#notes.values()]
  }
}
