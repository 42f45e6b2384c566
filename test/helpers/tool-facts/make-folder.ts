import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder in which a run of the tests keeps what it found out about ffmpeg and ffprobe. */
    toolFacts: string
  }
}

/** Makes the folder of a run, and returns what removes it. */
export default function makeFolder({ provide }: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'voxmux-tools-'))
  provide('toolFacts', folder)
  return () => rmSync(folder, { recursive: true, force: true })
}
