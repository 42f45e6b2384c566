/** Whether a name matches one of the patterns as a whole, whatever its case; `*` stands for anything, `?` for one character. */
export function matchesName(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    const source = pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')
    return new RegExp(`^${source}$`, 'is').test(name)
  })
}
