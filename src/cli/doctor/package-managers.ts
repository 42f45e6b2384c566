import { accessSync, constants } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** A system's package manager and how it installs ffmpeg, which brings ffprobe everywhere. */
export interface PackageManager {
  readonly program: string
  /** Argument lists to run one after another. A first one that may fail (a stale index) is `isOptional`. */
  readonly steps: readonly { readonly args: readonly string[]; readonly isOptional?: boolean }[]
  readonly needsRoot: boolean
}

/** In the order in which they are tried: a system rarely has two. */
export const PACKAGE_MANAGERS: readonly PackageManager[] = [
  {
    program: 'apt-get',
    // Without the index a fresh container knows no package at all; an unreachable mirror may still have left one.
    steps: [{ args: ['update'], isOptional: true }, { args: ['install', '-y', '--no-install-recommends', 'ffmpeg'] }],
    needsRoot: true,
  },
  { program: 'dnf', steps: [{ args: ['install', '-y', 'ffmpeg-free'] }], needsRoot: true },
  { program: 'apk', steps: [{ args: ['add', '--no-cache', 'ffmpeg'] }], needsRoot: true },
  { program: 'pacman', steps: [{ args: ['-Sy', '--noconfirm', '--needed', 'ffmpeg'] }], needsRoot: true },
  { program: 'brew', steps: [{ args: ['install', 'ffmpeg'] }], needsRoot: false },
  {
    program: 'winget',
    steps: [
      { args: ['install', '--id', 'Gyan.FFmpeg', '-e', '--accept-source-agreements', '--accept-package-agreements'] },
    ],
    needsRoot: false,
  },
  { program: 'choco', steps: [{ args: ['install', '-y', 'ffmpeg'] }], needsRoot: false },
]

/** Where programs are when PATH is empty: package managers live outside a plain user's PATH too. */
const SYSTEM_FOLDERS =
  process.platform === 'win32' ? [] : ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/opt/homebrew/bin', '/usr/local/bin']

/** Folders in which programs are looked for; relative ones are no place to trust. */
export function programFolders(path: string | undefined): readonly string[] {
  return [...new Set([...(path ?? '').split(delimiter).filter(isAbsolute), ...SYSTEM_FOLDERS])]
}

/** Absolute path of a program, undefined where there is none. */
export function findProgram(name: string, folders: readonly string[]): string | undefined {
  const names = process.platform === 'win32' ? [`${name}.exe`, `${name}.cmd`] : [name]
  return folders.flatMap((folder) => names.map((file) => join(folder, file))).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
