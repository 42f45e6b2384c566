import { accessSync, constants } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** A package manager and its commands to install ffmpeg. Every ffmpeg package includes ffprobe. */
interface PackageManager {
  readonly program: string
  /** Argument lists to run in order. `isOptional` marks a step that may fail (a stale index). */
  readonly steps: readonly { readonly args: readonly string[]; readonly isOptional?: boolean }[]
  readonly needsRoot: boolean
}

/** In the order of trial. A system rarely has two. */
export const PACKAGE_MANAGERS: readonly PackageManager[] = [
  {
    program: 'apt-get',
    // A fresh container has no package index. If the mirror is unreachable, an older index may do.
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

/** Folders of programs if PATH is empty. A plain user's PATH omits package managers too. */
const SYSTEM_FOLDERS =
  process.platform === 'win32' ? [] : ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/opt/homebrew/bin', '/usr/local/bin']

/** Folders to search for programs. Relative ones are not trusted. */
export function programFolders(path: string | undefined): readonly string[] {
  return [...new Set([...(path ?? '').split(delimiter).filter(isAbsolute), ...SYSTEM_FOLDERS])]
}

/** Absolute path of a program, or undefined. */
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
