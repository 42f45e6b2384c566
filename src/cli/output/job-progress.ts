import { PART_STAGES, type ProgressEvent, STAGES, type Stage } from '../../pipeline/events.js'

/** Share of a job's time that each stage usually takes, in percent, so that the bar moves evenly. */
const SHARES: Readonly<Record<Stage, number>> = {
  probe: 1,
  precheck: 1,
  plan: 1,
  cut: 8,
  upload: 12,
  process: 40,
  download: 8,
  align: 4,
  splice: 8,
  mux: 10,
  verify: 6,
  publish: 1,
}

export const STAGE_LABELS: Readonly<Record<Stage, string>> = {
  probe: 'reading',
  precheck: 'checking',
  plan: 'planning',
  cut: 'cutting the voice',
  upload: 'sending the voice',
  process: 'regenerating',
  download: 'receiving the audio',
  align: 'aligning',
  splice: 'splicing',
  mux: 'muxing',
  verify: 'verifying',
  publish: 'publishing',
}

/** The parts of a long file pass these stages separately, so one does not end before the next begins. */
const STAGES_OF_PARTS: ReadonlySet<Stage> = new Set(PART_STAGES)

/** A job's progress in words and figures for people. */
export interface ShownProgress {
  /** Percent of the whole job. */
  readonly percent: number
  readonly label: string
  /** Estimated time until the end; null while the pace of the service is unknown. */
  readonly leftMs: number | null
}

/** Joins the stages of one job. The service works at its own pace, and this machine at another. */
export class JobProgress {
  readonly #percents = new Map<Stage, number>()
  readonly #spentMs = { here: 0, service: 0 }
  #firstOfService: number | undefined
  #atMs: number | undefined

  /** Takes a stage's progress. @param nowMs time on a steady clock */
  take({ stage, percent }: Pick<ProgressEvent, 'stage' | 'percent'>, nowMs: number): ShownProgress {
    this.#spentMs[this.#isServing ? 'service' : 'here'] += nowMs - (this.#atMs ?? nowMs)
    this.#atMs = nowMs
    this.#percents.set(stage, percent)
    if (stage === 'process') this.#firstOfService ??= percent
    const done = this.#done(stage)
    return { percent: done, label: this.#label(stage), leftMs: this.#leftMs(done) }
  }

  get #service(): number {
    return this.#percents.get('process') ?? 0
  }

  get #isServing(): boolean {
    return this.#percents.has('process') && this.#service < 100
  }

  #done(current: Stage): number {
    const isOver = (stage: Stage) =>
      STAGES.indexOf(stage) < STAGES.indexOf(current) && !(STAGES_OF_PARTS.has(stage) && STAGES_OF_PARTS.has(current))
    const percentOf = (stage: Stage) => (isOver(stage) ? 100 : (this.#percents.get(stage) ?? 0))
    return STAGES.reduce((sum, stage) => sum + SHARES[stage] * percentOf(stage), 0) / 100
  }

  #label(stage: Stage): string {
    if (!this.#isServing || !STAGES_OF_PARTS.has(stage)) return STAGE_LABELS[stage]
    return this.#service === 0 ? 'waiting for the service' : `${STAGE_LABELS.process}, ${this.#service} %`
  }

  #leftMs(done: number): number | null {
    const doneHere = done - (SHARES.process * this.#service) / 100
    const paceHere = this.#spentMs.here / doneHere
    const service = this.#serviceLeftMs(paceHere)
    return service === null ? null : Math.round((100 - SHARES.process - doneHere) * paceHere + service)
  }

  #serviceLeftMs(paceHere: number): number | null {
    if (this.#firstOfService === undefined) return SHARES.process * paceHere
    if (this.#service === 100) return 0
    const doneSince = this.#service - this.#firstOfService
    return doneSince === 0 ? null : (this.#spentMs.service * (100 - this.#service)) / doneSince
  }
}
