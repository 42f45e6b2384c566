import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { OnShare } from './share.js'

/** Samples a second that the model works with. */
export const GTCRN_RATE = 16_000
const FRAME_SAMPLES = 256
/** Frames between two reports of progress: a second of sound. */
const REPORT_FRAMES = Math.round(GTCRN_RATE / FRAME_SAMPLES)
/** The model answers one frame late. */
const DELAY_FRAMES = 1

/** Meaning of the build's minified exports; `c` is the memory, `h` and `j` are not used here. */
interface GtcrnExports {
  readonly c: WasmMemory
  /** Runs the module's initialisers. */
  d(): void
  /** `gtcrn_create`: a fresh state, 0 if there is no memory. */
  e(): number
  /** `free` */
  f(pointer: number): void
  /** `gtcrn_destroy` */
  g(state: number): void
  /** `gtcrn_process`: one frame of 16 kHz from `input` to `output`. */
  i(state: number, input: number, output: number): void
  /** `malloc` */
  k(bytes: number): number
}

interface WasmMemory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}

const PAGE_BYTES = 65_536

/** As far as it is used here: Node's types name WebAssembly's types alone. */
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<object>
  instantiate(bytes: Uint8Array, imports: object): Promise<{ readonly instance: { readonly exports: unknown } }>
}

let kept: Promise<object> | undefined

/**
 * Keeps the compiled model in this process. V8 optimizes its code in the first thread, which takes as long as a second of
 * sound, and gives it to each later one.
 */
export function keepGtcrn(): void {
  kept ??= readBinary().then((bytes) => WebAssembly.compile(bytes))
  // The thread that loads it reports why it cannot.
  kept.catch(() => {})
}

function readBinary(): Promise<Uint8Array> {
  return readFile(createRequire(import.meta.url).resolve('@sapphi-red/web-noise-suppressor/gtcrn.wasm'))
}

/**
 * GTCRN with its weights inside: a WebAssembly build from `@sapphi-red/web-noise-suppressor`, which is made for a
 * browser's audio worklet. Only its binary is used. Its export names are minified, so the version is pinned exactly
 * and `gtcrn.test.ts` holds what comes out.
 */
export class Gtcrn {
  readonly #exports: GtcrnExports

  private constructor(exports: GtcrnExports) {
    this.#exports = exports
  }

  static async load(): Promise<Gtcrn> {
    let memory: WasmMemory | undefined
    const abort = () => {
      throw new Error('GTCRN stopped at an assertion of its own.')
    }
    const growTo = (bytes: number) => {
      if (!memory) return 0
      memory.grow(Math.ceil(Math.max(0, bytes - memory.buffer.byteLength) / PAGE_BYTES))
      return 1
    }
    const { instance } = await WebAssembly.instantiate(await readBinary(), { a: { a: abort, b: growTo } })
    const exports = instance.exports as GtcrnExports
    memory = exports.c
    exports.d()
    return new Gtcrn(exports)
  }

  /**
   * Runs the model over one channel, from a fresh state.
   *
   * @param samples 16 kHz, full scale ±1
   * @returns the voice, as long as the input and in its place (the model's delay is taken out)
   */
  run(samples: Float32Array, onShare?: OnShare): Float32Array {
    const wasm = this.#exports
    const voice = new Float32Array(samples.length)
    const state = wasm.e()
    const frameBytes = FRAME_SAMPLES * Float32Array.BYTES_PER_ELEMENT
    const pointer = wasm.k(2 * frameBytes)
    if (state === 0 || pointer === 0) throw new Error('GTCRN has no memory left.')
    try {
      const frames = Math.ceil(samples.length / FRAME_SAMPLES)
      for (let frame = 0; frame < frames + DELAY_FRAMES; frame++) {
        if (frame % REPORT_FRAMES === 0) onShare?.(frame / (frames + DELAY_FRAMES))
        const from = frame * FRAME_SAMPLES
        const input = new Float32Array(wasm.c.buffer, pointer, FRAME_SAMPLES)
        input.fill(0).set(samples.subarray(from, from + FRAME_SAMPLES))
        wasm.i(state, pointer, pointer + frameBytes)
        const to = from - DELAY_FRAMES * FRAME_SAMPLES
        if (to < 0) continue
        const count = Math.min(FRAME_SAMPLES, samples.length - to)
        // A new view each time: a growing memory detaches the old ones.
        voice.set(new Float32Array(wasm.c.buffer, pointer + frameBytes, count), to)
      }
    } finally {
      wasm.f(pointer)
      wasm.g(state)
    }
    return voice
  }
}
