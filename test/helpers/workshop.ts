import { createHash } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { secondOfSpeech } from './sound/second-of-speech.js'
import { knowTools, learnTools } from './tool-facts/known-tools.js'

const FIXTURES = fileURLToPath(new URL('../../fixtures', import.meta.url))

/** A person's folder for one test, with a temporary folder of its own, and a state folder that knows the tools. */
export interface Workshop {
  /** Where the media lie and the command runs. */
  readonly dir: string
  /** `VOXMUX_STATE_DIR` and `TMPDIR`. */
  readonly env: Readonly<Record<string, string>>
  /** Copies a fixture into {@link dir}, under another name if one is given, and returns its path. */
  readonly take: (fixture: string, name?: string) => string
  /** Writes a second of speech into {@link dir} under a name, and returns its path. */
  readonly takeVoice: (name: string) => string
  /** Path of a name inside {@link dir}. */
  readonly path: (name: string) => string
  /** Every file of {@link dir} and of the temporary folder, with size and SHA-256: hidden ones too. */
  readonly inventory: () => readonly string[]
  readonly remove: () => void
}

/** Sets up an empty {@link Workshop}. */
export function openWorkshop(): Workshop {
  const root = mkdtempSync(join(tmpdir(), 'voxmux-e2e-'))
  const dir = join(root, 'media')
  const temp = join(root, 'tmp')
  const state = join(root, 'state')
  for (const folder of [dir, temp]) mkdirSync(folder)
  knowTools(state)
  const path = (name: string) => join(dir, name)
  return {
    dir,
    env: { VOXMUX_STATE_DIR: state, TMPDIR: temp },
    take(fixture, name = fixture) {
      copyFileSync(join(FIXTURES, fixture), path(name))
      return path(name)
    },
    takeVoice(name) {
      writeFileSync(path(name), secondOfSpeech())
      return path(name)
    },
    path,
    inventory: () => [...listEntries(dir), ...listEntries(temp)].map((entry) => describeEntry(root, entry)),
    remove: () => {
      learnTools(state)
      rmSync(root, { recursive: true, force: true })
    },
  }
}

function listEntries(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => join(folder, name))
}

function describeEntry(root: string, path: string): string {
  const name = relative(root, path)
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return `${name}/`
  const bytes = readFileSync(path)
  return `${name} ${bytes.length} ${createHash('sha256').update(bytes).digest('hex')}`
}
