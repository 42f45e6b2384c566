import { rm } from 'node:fs/promises'
import { type MuxResult, requireKept, writeOutput } from '../../../media/index.js'
import type { WriteOutputOptions } from '../../../media/write/write-output.js'
import { percentBeforeEnd } from '../../context.js'
import { type AssembledTrack, assembleTrack } from '../../output/assemble-track.js'
import { LOSSY_RESERVE_DB, MOST_ENCODED_AGAIN, missingReserveDb } from '../../output/peak-reserve.js'
import type { Receipt } from '../../output/receipt.js'
import type { JobPlan } from '../../plan/plan-job.js'
import type { Attempt } from '../job-life.js'
import { type SigningFacts, signPart } from './sign-part.js'

/** The parts whose packets are joined with others, or why none are. */
type Joints = Pick<WriteOutputOptions, 'changed'> | Pick<WriteOutputOptions, 'unjoined'>

/** Writes the part file of a job and signs it. Encodes again if the codec lifts true peaks over their limit. */
export class PartWriter {
  readonly #plan: JobPlan
  readonly #facts: SigningFacts
  readonly #attempt: Attempt
  readonly #packetFacts: () => WriteOutputOptions['packetFacts']
  #tracks: readonly AssembledTrack[] = []
  #reserveDb = LOSSY_RESERVE_DB
  #missingDb = 0
  #credentials: Receipt['credentials'] = null

  /** @param packetFacts of the input's packets, called for each file that is written */
  constructor(
    plan: JobPlan,
    facts: SigningFacts,
    attempt: Attempt,
    packetFacts: () => WriteOutputOptions['packetFacts'],
  ) {
    this.#plan = plan
    this.#facts = facts
    this.#attempt = attempt
    this.#packetFacts = packetFacts
  }

  /** Tracks of the last part file. */
  get tracks(): readonly AssembledTrack[] {
    return this.#tracks
  }

  /** Decibels by which true peaks of the last part file are over their limit. */
  get missingDb(): number {
    return this.#missingDb
  }

  get credentials(): Receipt['credentials'] {
    return this.#credentials
  }

  /** Puts the regenerated audio into each track, with the present reserve for the codec. */
  async assemble(): Promise<void> {
    const { tracks } = this.#plan
    const { pieces, settings } = this.#facts
    const options = { recipe: settings.recipe, reserveDb: this.#reserveDb, signal: this.#attempt.signal }
    this.#tracks = await Promise.all(
      tracks.map((track) => {
        const own = pieces.filter(({ plan }) => plan.audioIndex === track.stream.audioIndex)
        return assembleTrack(this.#plan, track, own, options)
      }),
    )
  }

  /** Writes the assembled tracks, with joints at the edges of what changed. */
  writeJoined(): Promise<MuxResult> {
    const changed = this.#tracks.flatMap(({ audioIndex, changed: own }) => (own ? [[audioIndex, own] as const] : []))
    return this.#write({ changed: new Map(changed) })
  }

  /** Writes them without a joint. @param reason that the receipt states */
  writeWhole(reason: string): Promise<MuxResult> {
    return this.#write({ unjoined: reason })
  }

  async #write(joints: Joints): Promise<MuxResult> {
    const { bench, signal } = this.#attempt
    let written = await this.#writeOnce(joints)
    for (let again = 0; ; again++) {
      this.#missingDb = await missingReserveDb(this.#plan, this.#facts.settings.recipe.loudness, bench.part, signal)
      if (this.#missingDb === 0 || again === MOST_ENCODED_AGAIN) break
      this.#reserveDb += this.#missingDb
      await this.assemble()
      await rm(bench.part, { force: true })
      written = await this.#writeOnce(joints)
    }
    // Signing moves the bytes that verification would compare.
    if (this.#facts.settings.signed) await requireKept(this.#plan.mux, written, bench.part, signal)
    this.#credentials = await signPart(this.#plan, this.#facts, this.#attempt)
    return this.#credentials?.carrier === 'embedded' ? { ...written, layout: null } : written
  }

  #writeOnce(joints: Joints): Promise<MuxResult> {
    const { media, mux } = this.#plan
    const { bench, signal, onProgress } = this.#attempt
    const streams = new Map(this.#tracks.map(({ audioIndex, stream }) => [audioIndex, stream]))
    return writeOutput(mux, streams, bench.part, {
      ...{ signal, workFolder: bench.workFolder, ...joints },
      packetFacts: this.#packetFacts(),
      onProgressSec: (sec) => onProgress('mux', percentBeforeEnd(sec, media.durationSec)),
    })
  }
}
