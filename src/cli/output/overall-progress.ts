import { type ProgressEvent, STAGES, type Stage } from '../../pipeline/events.js'

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

/** Progress of the whole job, 0 … 100, from the progress of a stage. */
export function overallPercent({ stage, percent }: Pick<ProgressEvent, 'stage' | 'percent'>): number {
  const before = STAGES.slice(0, STAGES.indexOf(stage)).reduce((sum, earlier) => sum + SHARES[earlier], 0)
  return before + (SHARES[stage] * percent) / 100
}

/** Labels of the stages in progress bars. */
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
