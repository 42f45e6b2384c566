import { isPresetPath, loadPreset, presetNames } from '../../src/config/load-preset.js'
import { UsageError, VerificationError } from '../../src/core/errors.js'
import { formatTime, sleep } from '../../src/core/time.js'
import { writingFacts } from '../../src/media/index.js'
import { checkFile } from '../../src/pipeline/job/check-file.js'
import { ownReceipt } from '../../src/pipeline/output/existing-output.js'
import { readReceipt } from '../../src/pipeline/output/receipt.js'
import { receiptPath } from '../../src/pipeline/plan/output-path.js'
import { queueJob } from '../../src/pipeline/queue/queue-job.js'
import { queuedRecordOf } from '../../src/pipeline/queue/queued-file.js'
import { type Desk, requireOwnJob } from './desk.js'
import { planToken, requirePlanToken } from './plan-token.js'
import { type PreparedJob, prepareJob, requireLocal, settingsOf } from './prepare-job.js'
import type { Roots } from './roots.js'
import { overallPercent, toolJob } from './tool-job.js'
import type { ToolArguments, ToolName } from './tool-schemas.js'

/** One call of a tool. */
export interface ToolCall {
  readonly desk: Desk
  /** The open folders. Resolved when a tool needs them, because the client may have to be asked. */
  readonly roots: () => Promise<Roots>
  readonly signal: AbortSignal
  /** Asks the person. Null if the client cannot. */
  readonly ask: ((question: string) => Promise<boolean>) | null
  /** @param percent of the whole job */
  readonly progress: (percent: number, message: string) => void
}

/** The tools by their names. Each resolves to plain JSON. */
export const TOOLS: { readonly [N in ToolName]: (args: ToolArguments<N>, call: ToolCall) => Promise<object> } = {
  async check(args, { desk, roots, signal }) {
    const open = await roots()
    const input = await requireLocal(args.input, open)
    const settings = await settingsOf(args, desk.configOf, open)
    const { file } = await checkFile(input, settings, desk.context, signal)
    const { status, error, verdicts, media, writing } = file
    return { input, status, error, verdicts, media, losses: writing?.losses ?? [], writer: writing?.writer ?? null }
  },

  async plan(args, { desk, roots, signal }) {
    const { plan, shown } = await prepareJob(args, desk, await roots(), signal)
    const { token, expires } = planToken(desk.key, shown)
    return { ...planView(plan, desk), plan: token, expires }
  },

  async run({ plan: token, ...args }, { desk, roots, signal, ask }) {
    const prepared = await prepareJob(args, desk, await roots(), signal)
    requirePlanToken(desk.key, token, prepared.shown)
    const isAsked = ask !== null && isGrave(prepared, desk) && !(await hasJob(token, desk))
    if (isAsked && !(await ask(questionOf(prepared, desk)))) throw declined()
    const { job } = await queueJob({ ...prepared.file, ticket: token, isRetry: true }, desk.context, { signal })
    desk.worker.wake()
    return toolJob(job, desk)
  },

  async status({ job: id, waitSec }, call) {
    const { desk } = call
    if (id !== undefined) return waitForEnd(id, waitSec, call)
    const jobs = await desk.context.jobs.list({ group: desk.group, limit: 20 })
    return { jobs: jobs.map((job) => toolJob(job, desk)) }
  },

  async receipt(args, { roots, signal }) {
    const open = await roots()
    const output = await open.require(args.output)
    const path = await open.require(receiptPath(output))
    const receipt = await readReceipt(path)
    if (!receipt)
      throw new VerificationError('ERR_RECEIPT_MISSING', `${output} has no receipt: ${path} cannot be read.`, {
        input: output,
        remedies: ['Name an output of voxmux. `status` shows those of this server.'],
      })
    return { output, path, isUnchanged: (await ownReceipt(output, signal)) !== undefined, receipt }
  },

  async presets({ name }, { roots }) {
    if (name !== undefined) {
      return { ...(await loadPreset(isPresetPath(name) ? await (await roots()).require(name) : name)) }
    }
    const all = await Promise.all((await presetNames()).map((each) => loadPreset(each)))
    return { presets: all.map(({ name: own, preset }) => ({ name: own, description: preset.description })) }
  },
}

function planView(plan: PreparedJob['plan'], { context }: Desk) {
  const { media, output, verdicts, mux, notes, copyReason, paidSec, sendBytes } = plan
  return {
    input: media.path,
    output,
    cost: { isFree: context.isEmbedded, paidSec: context.isEmbedded ? 0 : paidSec, voiceSec: paidSec, sendBytes },
    service: context.serviceAddress,
    writer: writingFacts(mux).writer,
    losses: mux.losses,
    warnings: verdicts.asSent,
    notes: copyReason === null ? notes : [...notes, copyReason],
  }
}

/** True if the job is paid for, or may replace a file. The person then confirms it, if the client can ask. */
function isGrave({ file }: PreparedJob, { context }: Desk): boolean {
  return !context.isEmbedded || file.settings.force
}

/** True if this very plan has its job already, so that the person need not be asked again. */
async function hasJob(ticket: string, { context, group }: Desk): Promise<boolean> {
  const jobs = await context.jobs.list({ group })
  return jobs.some((job) => queuedRecordOf(job)?.ticket === ticket)
}

function questionOf({ plan, file }: PreparedJob, { context }: Desk): string {
  const { output, paidSec, mux } = plan
  const seconds = paidSec === null ? 'an unknown length' : formatTime(paidSec)
  const cost = context.isEmbedded
    ? 'It costs nothing.'
    : `${context.serviceAddress} charges at most ${seconds} of voice.`
  const lost = mux.losses.map(({ what, reason }) => `Lost: ${what} (${reason}).`)
  const replaced = file.settings.force ? ['An existing output is replaced.'] : []
  return [`Regenerate the voice of ${file.input} into ${output}?`, cost, ...replaced, ...lost].join(' ')
}

function declined(): UsageError {
  return new UsageError('ERR_PLAN_DECLINED', 'The person declined the plan. Nothing was sent.', {
    remedies: ['Change the options and call `plan` again.'],
  })
}

/** Milliseconds between two looks into the ledger. */
const LOOK_MS = 250

async function waitForEnd(id: string, waitSec: number, { desk, signal, progress }: ToolCall): Promise<object> {
  const untilMs = Date.now() + waitSec * 1000
  for (;;) {
    const view = toolJob(await requireOwnJob(desk, id), desk)
    if (view.isEnded || Date.now() >= untilMs) return view
    progress(overallPercent(view), view.stage ?? view.status)
    await sleep(LOOK_MS, signal)
  }
}
