/** Endings that copy tools, browsers and editors give an unfinished file. */
const UNFINISHED_ENDINGS = [
  ...['.part', '.partial', '.tmp', '.temp', '.crdownload', '.download', '.opdownload', '.filepart', '.!ut', '.aria2'],
  ...['.aspera', '.partial-aspera', '.lock', '.swp', '.swx', '.bak~', '.copying', '.uploading', '.incomplete'],
] as const

/** Beginnings of such names, and of files that operating systems add. */
const UNFINISHED_BEGINNINGS = ['.', '~$', '~', '#'] as const

/** Names that only operating systems give. */
const SYSTEM_NAMES: ReadonlySet<string> = new Set(['thumbs.db', 'desktop.ini', 'ehthumbs.db'])

/** True for a name that marks a file as temporary or as the system's own. */
export function isTemporaryName(name: string): boolean {
  const lower = name.toLowerCase()
  if (SYSTEM_NAMES.has(lower)) return true
  return (
    UNFINISHED_BEGINNINGS.some((begin) => lower.startsWith(begin)) ||
    UNFINISHED_ENDINGS.some((end) => lower.endsWith(end))
  )
}
