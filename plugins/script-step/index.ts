/** The script step: `import { scriptStep } from 'voxmux/step'`. */
export { scriptStep } from './script-step.js'
export type { StepJob, StepOptions, StepProgress } from './step-options.js'
export type { FinishedStep, PendingStep, StepResult } from './step-result.js'
