/** The worker thread: loads the engine once, then answers one request after the other. */
import { parentPort, workerData } from 'node:worker_threads'
import { VoxmuxError } from '../core/errors.js'
import { createEngine } from './create-engine.js'
import type { EngineSpec } from './engine-spec.js'
import type { WorkerAnswer, WorkerRequest } from './worker-messages.js'

const port = parentPort
if (!port) throw new Error('This file is started by the pool of voice workers.')

// A model that cannot be loaded is told to whoever asks first, not thrown where nobody listens.
const engine = createEngine(workerData as EngineSpec)
engine.catch(() => {})

port.on('message', async (request: WorkerRequest) => {
  const answer = await work(request)
  port.postMessage(answer, transferables(answer))
})

async function work({ task, block }: WorkerRequest): Promise<WorkerAnswer> {
  try {
    const loaded = await engine
    if (task === 'regenerate') return { ok: true, ...(await loaded.regenerate(block)) }
    return { ok: true, channels: [], probability: await loaded.detect(block) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const known = error instanceof VoxmuxError ? error : undefined
    return { ok: false, code: known?.code ?? null, message, remedies: known?.remedies ?? [] }
  }
}

/** Samples are handed over, not copied. */
function transferables(answer: WorkerAnswer): ArrayBuffer[] {
  if (!answer.ok) return []
  const arrays = answer.probability ? [...answer.channels, answer.probability] : answer.channels
  return arrays.map((array) => array.buffer)
}
