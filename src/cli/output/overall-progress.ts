import { type ProgressEvent, STAGES, type Stage } from '../../pipeline/events.js'

/** Share of a whole job that each stage usually takes, in percent: a bar that runs evenly is what people read. */
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

/** How much of the whole job is done, 0 … 100, when a stage is where it is. */
export function overallPercent({ stage, percent }: Pick<ProgressEvent, 'stage' | 'percent'>): number {
  const before = STAGES.slice(0, STAGES.indexOf(stage)).reduce((sum, earlier) => sum + SHARES[earlier], 0)
  return before + (SHARES[stage] * percent) / 100
}

/** What a person calls a stage while it runs. */
export const STAGE_LABELS: Readonly<Record<Stage, string>> = {
  probe: 'reading',
  precheck: 'checking',
  plan: 'planning',
  cut: 'cutting the voice',
  upload: 'sending the voice',
  process: 'regenerating',
  download: 'receiving the voice',
  align: 'aligning',
  splice: 'splicing',
  mux: 'muxing',
  verify: 'verifying',
  publish: 'publishing',
}
