import { rm } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
import { VoxmuxError } from '../../../core/errors.js'
import { makeProcessFolder } from '../../../core/process-folder.js'
import { audioStreams, copyExcerpt, probe } from '../../../media/index.js'
import type { PipelineContext } from '../../context.js'
import { quickIdentity, valueSha256 } from '../../file-identity.js'
import { existingOutput } from '../../output/existing-output.js'
import { recipeHash } from '../../plan/job-settings.js'
import { outputPath } from '../../plan/output-path.js'
import { type PlanRequest, planJob } from '../../plan/plan-job.js'
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
      const sampleRate = audioStreams(whole)[0]?.sampleRate || 1
      const [first] = planSegments(whole, settings.segments, sampleRate)
      const startSec = (first?.startSample ?? 0) / sampleRate
      const endSec = first?.endSample ? first.endSample / sampleRate : (whole.durationSec ?? Number.POSITIVE_INFINITY)
      const lengthSec = Math.min(previewSec, endSec - startSec)
      const folder = await makeProcessFolder(join(context.stateDir, 'previews'))
      folders.push(folder)
      const clipOf = async (soundAlone: boolean) => {
        const part = { startSec, lengthSec, folder, soundAlone, signal }
        const excerpt = await context.slots.local.run(() => copyExcerpt(whole, part), signal)
        const output = await outputPath({
          ...{ input, output: request.output, stem: request.outputStem, cwd },
          extension: settings.outputType === null ? extname(excerpt) : `.${settings.outputType}`,
          label: 'preview',
        })
        const clip = {
          ...{ ...request, input: excerpt, output },
          settings: { ...settings, segments: [], previewSec: null, report: true },
        }
        const plan = await planJob(clip, limitsOf(clip, context), { signal }).catch((error: Error) => {
          error.message = error.message.replaceAll(excerpt, `the preview of ${input}`)
          throw error
        })
        return { clip, output, plan }
      }
      const { clip, output, plan } = await clipOf(false).catch((error: unknown) => {
        // Some outputs cannot hide what lies between a key frame and the start of the preview.
        if (error instanceof VoxmuxError && error.code === 'ERR_EDIT_LIST') return clipOf(true)
        throw error
      })
      const note = `A preview: ${lengthSec} s of ${input}, from ${startSec} s on.`
      const planned = await plannedFile({ ...plan, notes: [note, ...plan.notes] }, clip, context)
      const recipe = recipeHash(settings, context.serviceIdentity)
      const place = { input, inputIdentity: identity, output, recipeHash: recipe }
      return {
        ...planned,
        input,
        key: valueSha256({ input, output, ...identity, recipe }),
        recipeHash: recipe,
        inputIdentity: { ...identity, sha256: null },
        existing: (job, signal) =>
          existingOutput({ ...place, replace: settings.force, supersede: true, signal }, job, context.jobs),
      }
    },
    async close() {
      for (const folder of folders) await rm(folder, { recursive: true, force: true })
    },
  }
}
