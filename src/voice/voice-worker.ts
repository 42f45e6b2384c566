/** The worker thread: loads the engine once, then answers one request after the other. */
import { parentPort, workerData } from 'node:worker_threads'
import { thrownMessage, VoxmuxError } from '../core/errors.js'
import type { Block } from './block-plan.js'
import { createEmbeddedEngine } from './embedded-engine.js'
import type { RegeneratedBlock, VoiceEngine } from './engine.js'
import type { EngineSpec } from './engine-spec.js'
import { sparing } from './sparing.js'
import type { WorkerAnswer, WorkerProgress, WorkerRequest } from './worker-messages.js'

const port = parentPort
if (!port) throw new Error('This file is started by the pool of voice workers.')

// The first request gets the error of a model that cannot be loaded: a throw here would reach no caller.
const engine = createEngine(workerData as EngineSpec)
engine.catch(() => {})

port.on('message', async (request: WorkerRequest) => {
  const answer = await work(request)
  port.postMessage(answer, transferables(answer))
})

const tellShare = (share: number) => port.postMessage({ share } satisfies WorkerProgress)

async function work({ task, block }: WorkerRequest): Promise<WorkerAnswer> {
  try {
    const loaded = await engine
    switch (task) {
      case 'correct':
        return { ok: true, ...correction(block, await loaded.regenerate(block, tellShare)) }
      case 'lower-bed':
        return { ok: true, ...(await loaded.lowerBed(block)) }
      case 'judge': {
        const { strength, bed, probability } = await loaded.judge(block)
        return { ok: true, channels: [strength, bed], probability }
      }
      case 'detect':
        return { ok: true, channels: [], probability: await loaded.detect(block) }
      default:
        throw new Error(`Unknown task ${task satisfies never}.`)
    }
  } catch (error) {
    const message = thrownMessage(error)
    const known = error instanceof VoxmuxError ? error : undefined
    return { ok: false, code: known?.code ?? null, message, remedies: known?.remedies ?? [] }
  }
}

/** The difference that regeneration added to the block: exactly 0 if it left it alone. */
function correction(block: Block, { channels, probability }: RegeneratedBlock): RegeneratedBlock {
  const added = channels.map((channel, c) => {
    const original = block.channels[c]?.subarray(block.innerStart, block.innerEnd)
    return channel.map((value, i) => value - (original?.[i] ?? 0))
  })
  return { channels: added, probability }
}

/** Samples are handed over, not copied. */
function transferables(answer: WorkerAnswer): ArrayBuffer[] {
  if (!answer.ok) return []
  const arrays = answer.probability ? [...answer.channels, answer.probability] : answer.channels
  return [...new Set(arrays.map((array) => array.buffer))]
}

/** Loads the model that the specification names: to be called in a worker thread. */
async function createEngine(spec: EngineSpec): Promise<VoiceEngine> {
  switch (spec.kind) {
    case 'embedded':
      return sparing(await createEmbeddedEngine(spec.evidence))
    case 'onnx': {
      // Its schema brings zod, which takes as long to load as the embedded models.
      const { createOnnxEngine } = await import('./onnx/onnx-engine.js')
      return sparing(await createOnnxEngine(spec.model, spec.evidence))
    }
    default:
      return spec satisfies never
  }
}
