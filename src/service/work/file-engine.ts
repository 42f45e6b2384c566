import type { OutputType } from '../../contract/index.js'
import type { MediaInfo } from '../../media/index.js'

/** One file for the engine. Positions are seconds of the input. */
export interface EngineRequest {
  readonly input: string
  /** The facts that the check of the input has found. */
  readonly media: MediaInfo
  /** Path that the engine writes. Its extension does not matter. */
  readonly output: string
  /** Start of the part, on the file's own clock. `endSec` is clamped at the file's end. */
  readonly startSec?: number | undefined
  readonly endSec?: number | undefined
  /** Default: the original's format. For a video, a type writes the sound alone. */
  readonly outputType?: OutputType | undefined
  readonly signal: AbortSignal
  /** From 0 to 100, never falling; 100 only when the output is written. */
  readonly onProgress: (percent: number) => void
}

/**
 * Regenerates voices. Validates the file first. An error with a file error code (-2 … -18) is the file's fault and
 * final; any other is the engine's own.
 */
export interface FileEngine {
  /** @returns the usual extension of the output, without a dot */
  processFile(request: EngineRequest): Promise<{ readonly extension: string }>
  close?(): Promise<void>
}
