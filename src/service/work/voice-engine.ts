import type { OutputType } from '../../contract/index.js'

/** One file for the engine: media in, media out. Positions are seconds of the input. */
export interface EngineRequest {
  readonly input: string
  /** Path that the engine writes; its extension says nothing. */
  readonly output: string
  readonly startSec?: number
  readonly endSec?: number
  readonly outputType?: OutputType
  readonly signal: AbortSignal
  /** 0 … 100. */
  readonly onProgress: (percent: number) => void
}

/**
 * What regenerates voices. It validates the file first; an error that carries a file error code (-2 … -18) is the
 * file's fault and final, any other is the engine's own.
 */
export interface VoiceEngine {
  /** @returns the usual extension of what was written, without a dot */
  processFile(request: EngineRequest): Promise<{ readonly extension: string }>
  close?(): Promise<void>
}
