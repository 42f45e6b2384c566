import { appendFile, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileSha256 } from '../../src/core/file-identity.js'
import type { HeldJob } from '../../src/ledger/index.js'
import type { PipelineContext } from '../../src/pipeline/context.js'
import { partPath } from '../../src/pipeline/output/part-file.js'
import { publish } from '../../src/pipeline/output/publish.js'
import { regenerateVoice } from '../../src/pipeline/voice/regenerate-voice.js'

/** What the voice of a job is: some bytes that no other has, and as in every sound one that no text has. */
export const voiceOf = (key: string) => `\0the voice of ${key}\n`.repeat(20)

/**
 * A job without ffmpeg, so that a laptop does ten thousand: the voice is regenerated, paid for and cached, the lease
 * checked and the output published by the very code of a real one. Each publishing adds a line to a log.
 */
export async function lightJob(held: HeldJob, context: PipelineContext, folder: string): Promise<void> {
  const { job, signal } = held
  const output = join(folder, `${job.key}.out`)
  const part = partPath(output, job.id)
  const cut = `${part}.${process.pid}.cut`
  const audioPath = `${part}.${process.pid}.answer`
  try {
    if (!(await isPublished(output, job.publishedSha256))) {
      await writeFile(cut, voiceOf(job.key))
      await regenerateVoice(
        {
          ...{ voiceHash: job.key, model: 'regen_v1', outputType: null, sec: 1, audioPath },
          judge: async () => {},
          source: { kind: 'upload', path: cut, clientFileId: `${job.key}.wav` },
        },
        context,
        { signal },
      )
      await writeFile(part, await readFile(audioPath))
      const publishedSha256 = await fileSha256(part)
      await publish(part, output, { replace: false, mayPublish: () => held.checkpoint({ output, publishedSha256 }) })
      await appendFile(join(folder, 'published.log'), `${job.key}\n`)
    }
    await held.complete({ status: 'done' })
  } finally {
    for (const path of [part, cut, audioPath]) await rm(path, { force: true })
  }
}

/** Whether an attempt before this one published and died before it could say so. */
async function isPublished(output: string, sha256: string | null): Promise<boolean> {
  const found = await stat(output).catch(() => undefined)
  return found !== undefined && sha256 !== null && (await fileSha256(output)) === sha256
}
