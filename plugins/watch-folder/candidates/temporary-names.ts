/** Endings that copy tools, browsers and editors give a file they have not finished. */
const UNFINISHED_ENDINGS = [
  ...['.part', '.partial', '.tmp', '.temp', '.crdownload', '.download', '.opdownload', '.filepart', '.!ut', '.aria2'],
  ...['.aspera', '.partial-aspera', '.lock', '.swp', '.swx', '.bak~', '.copying', '.uploading', '.incomplete'],
] as const

/** Beginnings of the names of such files, and of what operating systems put beside the files of people. */
const UNFINISHED_BEGINNINGS = ['.', '~$', '~', '#'] as const

/** Names that only operating systems give. */
const SYSTEM_NAMES: ReadonlySet<string> = new Set(['thumbs.db', 'desktop.ini', 'ehthumbs.db'])

/** True for a name that says of itself that the file is not, or not yet, a person's: nothing to take. */
export function isTemporaryName(name: string): boolean {
  const lower = name.toLowerCase()
  if (SYSTEM_NAMES.has(lower)) return true
  return (
    UNFINISHED_BEGINNINGS.some((begin) => lower.startsWith(begin)) ||
    UNFINISHED_ENDINGS.some((end) => lower.endsWith(end))
  )
}
