import { rm } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
import { reworded, VoxmuxError } from '../../../core/errors.js'
import { quickIdentity, valueSha256 } from '../../../core/file-identity.js'
import { makeProcessFolder } from '../../../core/process-folder.js'
import { audioStreams, copyExcerpt, copySound, type MediaInfo, probe } from '../../../media/index.js'
import type { PipelineContext } from '../../context.js'
import { existingOutput, ownReceipt } from '../../output/existing-output.js'
import { type JobSettings, recipeHash } from '../../plan/job-settings.js'
import { outputPath } from '../../plan/output-path.js'
import { type JobPlan, type PlanRequest, planJob } from '../../plan/plan-job.js'
import { planSegments } from '../../plan/segments.js'
import type { JobKind } from '../job-life.js'
import { limitsOf, plannedFile } from './file-job.js'

/**
 * A job on the first seconds of a file, or of the first part that the settings name. Those seconds are copied out, and
 * the job works on the copy alone. The output is a short clip with a report, and the next preview of the file replaces
 * it.
 *
 * @param previewSec length of the clip
 */
export function previewJob(request: PlanRequest, previewSec: number, context: PipelineContext): JobKind {
  const { settings, cwd } = request
  const folders: string[] = []
  return {
    async plan(signal) {
      const input = resolve(cwd, request.input)
      const identity = await quickIdentity(input)
      const whole = await probe(input, { signal })
      const folder = await makeProcessFolder(join(context.stateDir, 'previews'))
      folders.push(folder)
      const part = { ...previewedPart(whole, settings, previewSec), folder, signal }
      const { clip, plan } = await planClip(whole, part, copyExcerpt, request, context).catch((error: unknown) => {
        // Some outputs cannot hide what lies between a key frame and the start of the preview.
        if (error instanceof VoxmuxError && error.code === 'ERR_EDIT_LIST')
          return planClip(whole, part, copySound, request, context)
        throw error
      })
      const note = `A preview: ${part.lengthSec} s ${ofFile(input)}${part.startSec} s on.`
      const planned = await plannedFile({ ...plan, notes: [note, ...plan.notes] }, clip, context)
      const { output } = planned
      const recipe = recipeHash(settings, context.serviceIdentity)
      const place = { input, inputIdentity: identity, output, recipeHash: recipe }
      return {
        ...planned,
        input,
        key: valueSha256({ input, output, ...identity, recipe }),
        recipeHash: recipe,
        inputIdentity: { ...identity, sha256: null },
        requireStartable: (signal) => namingFile(whole, clip.input, planned.requireStartable(signal)),
        existing: (job, signal) =>
          existingOutput({ ...place, replace: settings.force, supersede: true, signal }, job, context.jobs),
      }
    },
    async close() {
      for (const folder of folders) await rm(folder, { recursive: true, force: true })
    },
  }
}

/** True if a run would replace this output by another preview of the file. A dry run asks, which opens no ledger. */
export async function isPreviewOf(output: string, input: string, signal?: AbortSignal): Promise<boolean> {
  // The input of the receipt is the copy of those seconds, which is gone.
  const notes = (await ownReceipt(output, signal))?.notes ?? []
  return notes.some((note) => note.includes(` s ${ofFile(resolve(input))}`))
}

function ofFile(input: string): string {
  return `of ${input}, from `
}

/** The start and the length of a preview, in seconds. */
function previewedPart(whole: MediaInfo, { segments }: JobSettings, previewSec: number) {
  const sampleRate = audioStreams(whole)[0]?.sampleRate || 1
  const [first] = planSegments(whole, segments, sampleRate)
  const startSec = (first?.startSample ?? 0) / sampleRate
  const endSec = first?.endSample ? first.endSample / sampleRate : (whole.durationSec ?? Number.POSITIVE_INFINITY)
  return { startSec, lengthSec: Math.min(previewSec, endSec - startSec) }
}

/** Copies the part of a file, and plans a job on the copy. */
async function planClip(
  whole: MediaInfo,
  part: Parameters<typeof copyExcerpt>[1],
  copy: typeof copyExcerpt,
  request: PlanRequest,
  context: PipelineContext,
): Promise<{ readonly clip: PlanRequest; readonly plan: JobPlan }> {
  const { settings, cwd } = request
  // Without sound there is nothing to copy: the plan refuses the file itself.
  const isSilent = audioStreams(whole).length === 0
  const excerpt = isSilent ? whole.path : await context.slots.local.run(() => copy(whole, part), part.signal)
  const output = await outputPath({
    ...{ input: whole.path, output: request.output, stem: request.outputStem, cwd },
    extension: settings.outputType === null ? extname(excerpt) : `.${settings.outputType}`,
    label: 'preview',
  })
  const clip = {
    ...{ ...request, input: excerpt, output },
    settings: { ...settings, segments: [], previewSec: null, report: true },
  }
  return {
    clip,
    plan: await namingFile(whole, excerpt, planJob(clip, limitsOf(clip, context), { signal: part.signal })),
  }
}

/** A result whose error names the file, not the copy. */
function namingFile<T>({ path }: MediaInfo, excerpt: string, result: Promise<T>): Promise<T> {
  return result.catch((error: unknown) => {
    throw error instanceof VoxmuxError
      ? reworded(error, (text) => text.replaceAll(excerpt, `the preview of ${path}`))
      : error
  })
}
