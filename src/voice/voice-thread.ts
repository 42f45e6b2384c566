import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { InterruptedError, JobFailedError } from '../core/errors.js'
import type { EngineSpec } from './engine-spec.js'
import { keepGtcrn } from './gtcrn.js'
import type { OnShare } from './share.js'
import type { WorkerAnswer, WorkerProgress, WorkerRequest } from './worker-messages.js'

interface AskOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  readonly onShare: OnShare | undefined
}

/**
 * One worker thread and the request it works on. A thread that crashes, is interrupted or takes too long is dead
 * afterwards. A model cannot be stopped in the middle of a block in any other way.
 */
export class VoiceThread {
  readonly #worker: Worker
  #alive = true

  constructor(spec: EngineSpec) {
    if (spec.kind === 'embedded') keepGtcrn()
    this.#worker = startWorker(spec)
    // Idle threads do not keep the process alive.
    this.#worker.unref()
    this.#worker.on('error', () => {
      this.#alive = false
    })
    this.#worker.on('exit', () => {
      this.#alive = false
    })
  }

  get isAlive(): boolean {
    return this.#alive
  }

  /** Sends a request (its samples are handed over) and waits for the answer. One at a time. */
  ask(request: WorkerRequest, { timeoutMs, signal, onShare }: AskOptions): Promise<WorkerAnswer> {
    const worker = this.#worker
    return new Promise<WorkerAnswer>((resolve, reject) => {
      const fail = (error: Error) => {
        release()
        this.#alive = false
        void worker.terminate().finally(() => reject(error))
      }
      const onAbort = () => fail(new InterruptedError('Interrupted.', { cause: signal?.reason }))
      const onCrash = (cause: unknown) => fail(crashed(cause))
      const onExit = (code: number) => fail(crashed(new Error(`the worker ended with ${code}`)))
      const onMessage = (message: WorkerAnswer | WorkerProgress) => {
        if ('share' in message) {
          onShare?.(message.share)
          return
        }
        release()
        resolve(message)
      }
      const timer = setTimeout(() => fail(timedOut(timeoutMs)), timeoutMs)
      const release = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        worker.off('message', onMessage).off('error', onCrash).off('exit', onExit)
        worker.unref()
      }
      worker.ref()
      worker.on('message', onMessage).on('error', onCrash).on('exit', onExit)
      signal?.addEventListener('abort', onAbort, { once: true })
      worker.postMessage(
        request,
        request.block.channels.map((channel) => channel.buffer),
      )
    })
  }

  async end(): Promise<void> {
    this.#alive = false
    await this.#worker.terminate()
  }
}

function startWorker(spec: EngineSpec): Worker {
  // The model needs nothing of the environment, and cannot leak what it has not.
  const options = { workerData: spec, execArgv: [], env: {} }
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('../voice/voice-worker.js', import.meta.url), options)
  }
  joined ??= joinSource()
  return new Worker(joined, { ...options, eval: true })
}

/** The source of the thread's modules, joined once: tests start many threads, and a thread does not read TypeScript. */
let joined: string | undefined

function joinSource(): string {
  const source = fileURLToPath(new URL('./voice-worker.ts', import.meta.url))
  const flags = ['--bundle', '--platform=node', '--external:onnxruntime-web', '--external:zod', '--log-level=error']
  const here = `--define:import.meta.url=${JSON.stringify(import.meta.url)}`
  const esbuild = createRequire(import.meta.url).resolve('esbuild/bin/esbuild')
  return execFileSync(esbuild, [source, ...flags, here], { encoding: 'utf8' })
}

function crashed(cause: unknown): JobFailedError {
  return new JobFailedError('ERR_VOICE_CRASHED', 'The voice engine stopped unexpectedly while working on the file.', {
    cause,
    errorCode: -1,
    errorName: 'SystemError',
    remedies: ['Try again: the engine has been restarted.'],
  })
}

function timedOut(timeoutMs: number): JobFailedError {
  return new JobFailedError(
    'ERR_VOICE_TIMEOUT',
    `The voice engine took longer than ${timeoutMs / 1000} s on a part of the file.`,
    {
      errorCode: -12,
      errorName: 'TimeOut',
      remedies: ['Try again when the machine is less busy.'],
    },
  )
}
